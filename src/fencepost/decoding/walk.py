"""The walk through the steps of parses; a policy chooses each step.

With canonical rules each parse has one derivation, so the sum of the steps' log-probabilities is
that of the parse. With constraints, search may reach a parse by other steps than its oracle's; what
it returns are the oracle's steps, with the log-probabilities that they have without constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.batching.steps import Numbered, Steps, canonical_steps, places
from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.blas import one_thread
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.derivations import Derivations, most_steps
from fencepost.decoding.rules import MINUS, Rules
from fencepost.decoding.stepper import Stepper
from fencepost.errors import TransitionError

_SHARE = 3 / 4  # of the rows are still under way when the others are dropped


class Policy(Protocol):
    """Chooses steps: at each first a boundary, then a label."""

    def __call__(self, log_probs: Floats, number: int, rows: Ints, /) -> Ints:
        """The choice of each row.

        Args:
            log_probs: (active rows, choices)
            number: of choices made before: even for boundaries, odd for labels
            rows: the numbers of the active rows, (active rows,)
        """


def likeliest(log_probs: Floats, number: int, rows: Ints) -> Ints:
    """The most probable choice."""
    return log_probs.argmax(-1)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Chooses each with its probability."""

    chances: Floats  # evenly spread between 0 and 1, without 1: (rows, choices)

    def __call__(self, log_probs: Floats, number: int, rows: Ints) -> Ints:
        """The choices up to which the chances reach."""
        # In 64 bits, a chance of 32 bits that is below 1 stays below the sum.
        reached = np.exp(log_probs, dtype=np.float64).cumsum(-1)
        aim = self.chances[rows, number, None] * reached[:, -1:]
        return (reached <= aim).sum(-1)


@dataclass(frozen=True, slots=True)
class Given:
    """Follows given steps; takes the best one where a given step is unknown or not allowed."""

    steps: Steps

    def __call__(self, log_probs: Floats, number: int, rows: Ints) -> Ints:
        """The given choices, if they are allowed."""
        step, is_label = divmod(number, 2)
        choice = (self.steps.labels if is_label else self.steps.boundaries)[rows, step]
        allowed = probability_of(log_probs, choice) > MINUS
        if allowed.all():
            return choice
        # The best label is that of a span, and no filler: it stands for one that is not known.
        low = 1 if is_label and log_probs.shape[1] > 1 else 0
        return np.where(allowed, choice, log_probs[:, low:].argmax(-1) + low)


def probability_of(log_probs: Floats, choice: Ints) -> Floats:
    """The log-probability of one choice in each row, -inf if it is none at all: (rows,)."""
    known = (choice >= 0) & (choice < log_probs.shape[1])
    return np.where(known, log_probs[np.arange(len(choice)), choice * known], MINUS)


class Choice(NamedTuple):
    """A step of a walk: what it was chosen from, and what was chosen.

    A row that is finished points to 0 without a label, at no cost, until it is dropped.
    """

    rows: Ints  # the numbers of the active rows, (rows,)
    where: Configurations  # before the step
    logits: Floats  # of boundaries, (rows, n + 1); those of other boundaries mean nothing
    points: Floats  # log-probabilities of boundaries, (rows, n + 1); -inf: no candidate
    boundary: Ints  # (rows,)
    labels: Floats  # log-probabilities of labels at that boundary, (rows, labels)
    label: Ints  # (rows,)
    log_probs: Floats  # of the step, given the steps before it, (rows,)
    labels_at: Callable[[Ints], Floats]  # labels at other boundaries: (rows,) to (rows, labels)


def walk(
    stepper: Stepper[Any],
    boundaries: Floats,
    lengths: Ints,
    rules: Rules,
    policy: Policy | None = None,
    *,
    sentence: Ints | None = None,
    each: int = 1,
) -> Iterator[Choice]:
    """The steps of some parses, one after the other, until all are complete.

    Args:
        stepper: scores the steps.
        boundaries: vectors, (sentences, n + 1, width)
        lengths: in words, (sentences,), at least 1
        rules: of the steps that are allowed.
        policy: chooses the steps; None: the best boundary by the rules, and then the best label
        sentence: of each row, (rows,); None: there is a row for each sentence
        each: more than 1: that many rows belong to each sentence, one sentence after the other
    """
    with one_thread:
        where = Configurations.first(lengths, boundaries.shape[1], stack=stepper.looks_at_stack)
        state = stepper.start(boundaries)
        if sentence is not None:
            where, rules = where.rows(sentence), rules.rows(sentence)
            state = stepper.select(state, sentence, each=each)
        index = rows = np.arange(len(where.lengths))
        for number in range(0, 2 * most_steps(boundaries), 2):
            if not len(rows):
                return
            labels_at = partial(label_log_probs, stepper, state, where, rules)
            logits = stepper.point_logits(state, where)
            points = rules.points(where, logits)
            boundary = (
                rules.best_point(where, logits, points)
                if policy is None
                else policy(points, number, rows)
            )
            labels = labels_at(boundary)
            label = (policy or likeliest)(labels, number + 1, rows)
            log_probs = points[index, boundary] + labels[index, label]
            yield Choice(rows, where, logits, points, boundary, labels, label, log_probs, labels_at)
            after = where.point(boundary, label)
            left = len(rows) - np.count_nonzero(after.is_final)
            if left < _SHARE * len(rows):
                going = (~after.is_final).nonzero()[0]
                state, rules = stepper.select(state, going), rules.rows(going)
                rows, where, after = rows[going], where.rows(going), after.rows(going)
                boundary, label, index = boundary[going], label[going], index[:left]
            if left:
                state = stepper.advance(state, where, boundary, label)
            where = after
        if len(rows):
            raise TransitionError("a parse does not end: the network's scores are no numbers")


def label_log_probs(
    stepper: Stepper[Any], state: Any, where: Configurations, rules: Rules, boundary: Ints
) -> Floats:
    """Log-probabilities of labels at some boundaries; a finished row has the filler's."""
    labels = rules.labels(where, boundary, stepper.label_logits(state, where, boundary))
    if np.count_nonzero(where.is_final):
        labels[where.is_final] = MINUS
        labels[where.is_final, FILLER] = 0.0
    return labels


def derivations(choices: Iterator[Choice], rows: int, boundaries: Floats) -> Derivations:
    """The derivations of a walk: one for each of its rows.

    Args:
        choices: of the walk.
        rows: how many there are.
        boundaries: the vectors that it started from.
    """
    result = Derivations.empty(rows, 1, boundaries)
    # Step by step into lists, and all at once into arrays: that is quicker for few rows.
    taken = [
        (one.rows, one.boundary, one.label, one.log_probs, one.where.is_final) for one in choices
    ]
    step = np.repeat(np.arange(len(taken)), [len(row) for row, *_ in taken])
    row, boundary, label, log_probs, is_final = map(np.concatenate, zip(*taken, strict=True))
    result.boundaries[row, 0, step] = boundary
    result.labels[row, 0, step] = label
    result.step_log_probs[row, 0, step] = log_probs
    result.counts[:, 0] = np.bincount(row[~is_final], minlength=rows)
    return result._replace(log_probs=result.step_log_probs.sum(-1))


def greedy(
    stepper: Stepper[Any],
    boundaries: Floats,
    lengths: Ints,
    rules: Rules,
    policy: Policy | None = None,
) -> Derivations:
    """Parse greedily: at each step the best boundary, then the best label.

    Args:
        stepper: scores the steps.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        rules: of the steps that are allowed.
        policy: what is best; None: as the rules have it
    """
    choices = walk(stepper, boundaries, lengths, rules, policy)
    result = derivations(choices, len(lengths), boundaries)
    return canonical(stepper, boundaries, lengths, rules, result)


def sample(
    stepper: Stepper[Any], boundaries: Floats, lengths: Ints, rules: Rules, chances: Floats
) -> Derivations:
    """Draw parses by their probability: each step by its own, given the steps before it.

    Args:
        stepper: scores the steps.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        rules: of the steps that are allowed.
        chances: evenly spread between 0 and 1, without 1; two for each step of each parse that is
            drawn for a row: (rows, samples, 2 (2 n - 1))

    Returns:
        As many parses for each row, in the order in which they were drawn.
    """
    rows, samples, _ = chances.shape
    choices = walk(
        stepper,
        boundaries,
        lengths,
        rules,
        Sampled(chances.reshape(rows * samples, -1)),
        sentence=np.repeat(np.arange(rows), samples),
        each=samples,
    )
    return derivations(choices, rows * samples, boundaries).arranged(rows, samples)


def score(
    stepper: Stepper[Any],
    boundaries: Floats,
    lengths: Ints,
    rules: Rules,
    steps: Steps,
    *,
    sentence: Ints | None = None,
) -> Floats:
    """The log-probabilities of given steps, each given those before it.

    Summed up, those of a parse's oracle are the log-probability of the parse.

    Args:
        stepper: scores the steps.
        boundaries: (sentences, n + 1, width)
        lengths: in words, (sentences,), at least 1
        rules: of the steps that are allowed.
        steps: of `parses` parses
        sentence: that each parse belongs to, (parses,); None: there is one for each sentence

    Returns:
        (parses, steps), 0 behind the last step, and -inf from a step on that is not allowed
    """
    log_probs = np.full(steps.boundaries.shape, MINUS)
    choices = walk(stepper, boundaries, lengths, rules, Given(steps), sentence=sentence)
    for number, choice in enumerate(islice(choices, steps.boundaries.shape[1])):
        boundary, label = steps.boundaries[choice.rows, number], steps.labels[choice.rows, number]
        log_prob = probability_of(choice.points, boundary) + probability_of(choice.labels, label)
        # Labels are those at the boundary that was taken, which is another one if -inf stands here.
        log_probs[choice.rows, number] = np.where(choice.where.is_final, MINUS, log_prob)
    lost = np.logical_or.accumulate(log_probs == MINUS, axis=1)
    return np.where(steps.mask, np.where(lost, MINUS, log_probs), 0.0)


def canonical(
    stepper: Stepper[Any],
    boundaries: Floats,
    lengths: Ints,
    rules: Rules,
    parses: Derivations,
) -> Derivations:
    """Derivations under constraints as canonical ones, best first by their own log-probabilities.

    Without constraints they are returned as they are.
    """
    if rules.limits is None:
        return parses
    constrained = rules.limits.constrained
    derived = _distinct_steps(parses, constrained)
    steps = Steps.of([steps for _, steps in derived])
    row = np.array([number for number, _ in derived], dtype=np.intp)
    free = replace(rules, canonical=True, limits=None)
    each = score(stepper, boundaries, lengths, free, steps, sentence=row)
    log_probs = each.sum(1)
    order = np.lexsort((-log_probs, row))  # best first within each row
    row = row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    result = parses.rows(np.arange(len(lengths)))
    for values in (result.boundaries, result.labels, result.counts, result.step_log_probs):
        values[constrained] = 0
    # Where there is no further parse, its steps still have to sum up to -inf.
    result.log_probs[constrained] = MINUS
    result.step_log_probs[constrained, :, :1] = MINUS
    longest = each.shape[1]
    result.boundaries[row, rank, :longest] = steps.boundaries[order]
    result.labels[row, rank, :longest] = steps.labels[order]
    result.counts[row, rank] = steps.counts[order]
    result.step_log_probs[row, rank, :longest] = each[order]
    result.log_probs[row, rank] = log_probs[order]
    return result


def _distinct_steps(parses: Derivations, rows: Bools) -> list[tuple[int, Numbered]]:
    """The canonical steps of the distinct parses of some rows, each with its row."""
    derived: dict[tuple[int, Numbered], None] = {}
    for row, rank in np.argwhere(rows[:, None] & (parses.log_probs > MINUS)).tolist():
        count = parses.counts[row, rank]
        steps = zip(
            parses.boundaries[row, rank, :count].tolist(),
            parses.labels[row, rank, :count].tolist(),
            strict=True,
        )
        derived[row, canonical_steps(places(steps))] = None
    return list(derived)
