"""Jobs: requests checked and split into sentences, parsed together or alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from fencepost.errors import ConstraintError, DataError
from fencepost.parser.inputs import PreparedInput, prepare_input
from fencepost.parser.options import CheckedOptions
from fencepost.parser.parser import Parser
from fencepost.parser.predict import BatchConstraints
from fencepost.parser.steps import Step
from fencepost.structure import Document, Parse, Sentence
from fencepost.web.errors import invalid
from fencepost.web.schemas import RequestBase
from fencepost.web.settings import LONG_WORD, Settings


def size_of(sentence: Sentence) -> int:
    """The size of a sentence in words, where long words count for several.

    >>> size_of(Sentence(("a", "b", "c" * 20, "d" * 21, "e" * 45)))
    8
    """
    return sum(
        1 if len(word) <= LONG_WORD else 1 + len(word) // LONG_WORD for word in sentence.words
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A request, ready to be parsed."""

    inputs: tuple[PreparedInput, ...]
    asked: CheckedOptions
    n_best: int = 1
    steps: bool = False
    size: int = field(init=False, compare=False)  # in words, for limits

    def __post_init__(self) -> None:
        sentences = (sentence for one in self.inputs for sentence in one.sentences)
        object.__setattr__(self, "size", sum(map(size_of, sentences)))

    @property
    def words(self) -> int:
        """The number of words in all inputs."""
        return sum(one.words for one in self.inputs)

    @property
    def sentences(self) -> int:
        """The number of sentences in all inputs."""
        return sum(len(one.sentences) for one in self.inputs)

    @property
    def is_alone(self) -> bool:
        """Whether it has to be parsed alone, sentence by sentence."""
        return self.n_best > 1 or self.steps or self.asked.is_placed

    def goes_with(self, other: Job) -> bool:
        """Whether both can be parsed together."""
        return not self.is_alone and not other.is_alone and self.asked == other.asked


@dataclass(frozen=True, slots=True)
class Answered:
    """A document, with the requested readings and steps of each sentence."""

    document: Document
    readings: tuple[tuple[Parse, ...], ...] = ()
    steps: tuple[tuple[Step, ...], ...] = ()


def job_of(parser: Parser, request: RequestBase, settings: Settings) -> Job:
    """The job of a request.

    Raises:
        RefusedError: it is too large.
        FencepostError: it is invalid.
    """
    inputs = request.given()
    if len(inputs) > settings.max_inputs:
        raise invalid(f"inputs: at most {settings.max_inputs:,}, not {len(inputs):,}")
    best = None if request.n_best == 1 else request.n_best
    asked = parser.check_options(best=best, **request.options())
    splitter = parser.model.splitter
    job_inputs = tuple(prepare_input(one, splitter, blanks=True) for one in inputs)
    job = Job(job_inputs, asked, request.n_best, request.steps)
    _check_words(job, settings)
    sentences = [sentence for one in job.inputs for sentence in one.sentences]
    if asked.is_placed and len(sentences) != 1:
        there = f"there are {len(sentences)}; pass the words of one of them"
        raise ConstraintError(
            "must and forbid count the words of one sentence, and "
            f"{there if sentences else 'there is none'}"
        )
    if len(inputs) == 1 and (asked.constraints or asked.gazetteer is not None):
        # Of several inputs, one with impossible constraints gets a status, and others are parsed.
        BatchConstraints.of(parser.model, sentences, asked)
    return job


def _check_words(job: Job, settings: Settings) -> None:
    """Refuse a job with too many words."""
    words, beams = job.size, max(job.asked.beams, job.n_best)
    if words > settings.max_words:
        counted = f"; those of more than {LONG_WORD} characters count for several"
        raise invalid(
            f"a request has at most {settings.max_words:,} words, not {words:,}"
            f"{counted if words > job.words else ''}"
        )
    if words > settings.max_close_words and job.is_alone:
        what = "steps" if job.steps else "n_best" if job.n_best > 1 else "must and forbid"
        raise invalid(
            f"{what}: a request that asks for them has at most "
            f"{settings.max_close_words:,} words, not {words:,}"
        )
    if beams > 1 and words * beams > settings.max_beam_words:
        raise invalid(
            f"beams: {beams} are for at most {settings.max_beam_words // beams:,} words a "
            f"request, not {words:,}"
        )


class _UnwantedError(Exception):
    """No client waits any more."""


def parse_together(
    parser: Parser, jobs: Sequence[Job], *, is_wanted: Callable[[], bool] = lambda: True
) -> list[list[Answered]]:
    """Parse several jobs together.

    Args:
        parser: the parser.
        jobs: the jobs.
        is_wanted: whether a client still waits; if not, the answers are empty.
    """

    def go_on(words: int) -> None:
        if not is_wanted():
            raise _UnwantedError

    inputs = [one for job in jobs for one in job.inputs]
    documents = parser.stream(inputs, jobs[0].asked, done=go_on)
    try:
        return [[Answered(next(documents)) for _ in job.inputs] for job in jobs]
    except _UnwantedError:
        return [[] for _ in jobs]


def parse_alone(
    parser: Parser, job: Job, *, is_wanted: Callable[[], bool] = lambda: True
) -> list[Answered]:
    """Parse a job sentence by sentence.

    Args:
        parser: the parser.
        job: the job.
        is_wanted: whether a client still waits; if not, the answer is incomplete.
    """
    answers = []
    for one in job.inputs:
        readings: list[tuple[Parse, ...]] = []
        steps: list[tuple[Step, ...]] = []
        status = one.status
        try:
            for sentence in one.sentences:
                if not is_wanted():
                    break
                readings.append(_readings(parser, job, sentence))
                if job.steps:
                    steps.append(tuple(parser.steps_many([sentence], job.asked)))
        except (ConstraintError, DataError) as error:
            status = f"could not be parsed: {error}"
        if status is None:
            document = Document(tuple(best for best, *_ in readings), one.text)
            several = tuple(readings) if job.n_best > 1 else ()
            answers.append(Answered(document, several, tuple(steps)))
        else:
            answers.append(Answered(Document((), one.text, status)))
    return answers


def _readings(parser: Parser, job: Job, sentence: Sentence) -> tuple[Parse, ...]:
    (readings,) = parser.n_best_many([sentence], job.n_best, job.asked)
    return readings if job.n_best > 1 else tuple(replace(parse, rank=None) for parse in readings)
