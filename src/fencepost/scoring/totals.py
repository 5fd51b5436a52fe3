"""Totals over many sentences: the figures of EVALB's summary."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.scoring.brackets import Counts


def per_cent(part: float, whole: float) -> float:
    """A percentage; 0 if the whole is 0."""
    return 100.0 * part / whole if whole else 0.0


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall, 0 if both are."""
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


@dataclass(slots=True)
class Totals:
    """Sums over sentences, without those in error and those skipped."""

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    complete: int = 0
    crossing: int = 0
    without_crossing: int = 0
    few_crossing: int = 0  # two or fewer
    words: int = 0
    right_tags: int = 0

    def add(self, counts: Counts) -> None:
        """Add a sentence."""
        self.sentences += 1
        if counts.status:
            self.errors += counts.status == 1
            self.skipped += counts.status == 2
            return
        self.matched += counts.matched
        self.gold += counts.gold
        self.predicted += counts.predicted
        self.complete += counts.matched == counts.gold == counts.predicted
        self.crossing += counts.crossing
        self.without_crossing += counts.crossing == 0
        self.few_crossing += counts.crossing <= 2
        self.words += counts.words
        self.right_tags += counts.right_tags

    @property
    def valid(self) -> int:
        """The number of sentences that count."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """The percentage of gold brackets that are predicted."""
        return per_cent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """The percentage of predicted brackets that are right."""
        return per_cent(self.matched, self.predicted)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return f1(self.precision, self.recall)

    @property
    def complete_match(self) -> float:
        """The percentage of sentences with only right brackets."""
        return per_cent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        """The number of crossing brackets per sentence."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """The percentage of sentences without crossing brackets."""
        return per_cent(self.without_crossing, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """The percentage of sentences with at most two crossing brackets."""
        return per_cent(self.few_crossing, self.valid)

    @property
    def tag_accuracy(self) -> float:
        """The percentage of words with the right tag."""
        return per_cent(self.right_tags, self.words)
