"""Beam search: the best few parses at each step, over boundaries and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.decoding.blas import one_thread
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.rules import MINUS, Rules
from fencepost.decoding.stepper import Stepper
from fencepost.decoding.walk import (
    Policy,
    canonical,
    derivations,
    greedy,
    label_log_probs,
    likeliest,
    walk,
)

_SHARE = 3 / 4  # of the sentences are still under way when the others are dropped
_FEW = 2  # times as many pairs of a parse and a boundary as beams are looked at first


def beam(
    stepper: Stepper[Any], boundaries: Floats, lengths: Ints, rules: Rules, *, beams: int
) -> Derivations:
    """Parse with a beam: keep the best few parses at each step.

    The best parse is at least as probable as the greedy ones, which take the rules' choice of
    boundary or the most probable one: where a greedy parse falls out of the beam, it is compared
    with the beam's results.

    Args:
        stepper: scores the steps.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        rules: of the steps that are allowed.
        beams: size of the beam, and number of parses for each row; with 1, each step takes the most
            probable boundary, then the most probable label
    """
    if beams == 1:
        return greedy(stepper, boundaries, lengths, rules, likeliest)
    with one_thread:
        active = np.arange(len(lengths))
        row = np.repeat(active, beams)
        where = Configurations.first(
            lengths, boundaries.shape[1], stack=stepper.looks_at_stack
        ).rows(row)
        state = stepper.select(stepper.start(boundaries), row, each=beams)
        row_rules = rules.rows(row)
        parses = Derivations.empty(len(lengths), beams, boundaries)
        # All beams of a row are the same at first: only one counts.
        parses.log_probs[:, 1:] = MINUS
        results = parses.rows(active)
        policies: tuple[Policy | None, ...] = (None, likeliest) if rules.nearest_first else (None,)
        is_greedy = np.tile(np.arange(len(row)) % beams == 0, (len(policies), 1))
        # The log-probability of a greedy parse that fell out was at most that of the worst kept.
        lost = np.full((len(policies), len(lengths)), MINUS)
        for number in range(parses.boundaries.shape[2]):
            parent, parses, is_greedy = _extend(
                stepper, state, where, row_rules, parses, number, is_greedy
            )
            is_lost = ~is_greedy.reshape(len(policies), -1, beams).any(2)
            is_lost &= lost[:, active] == MINUS
            lost[:, active] = np.where(is_lost, parses.log_probs[:, -1], lost[:, active])
            boundary, label = (
                parses.boundaries[:, :, number].ravel(),
                parses.labels[:, :, number].ravel(),
            )
            where = where.rows(parent)
            after = where.point(boundary, label)
            is_done = after.is_final.reshape(-1, beams) | (parses.log_probs == MINUS)
            index = (~is_done.all(1)).nonzero()[0]
            if len(index) < _SHARE * len(active):
                results.put(active, parses)
                active, parses = active[index], parses.rows(index)
                rest = (index[:, None] * beams + np.arange(beams)).ravel()
                parent, where, after = parent[rest], where.rows(rest), after.rows(rest)
                boundary, label, is_greedy = boundary[rest], label[rest], is_greedy[:, rest]
            if not len(index):
                break
            state = stepper.select(state, parent, each=beams)
            state = stepper.advance(state, where, boundary, label)
            where, row_rules = after, row_rules.rows(parent)
        results.put(active, parses)
    for policy, most in zip(policies, lost, strict=True):
        index = (most > _least(results, rules)).nonzero()[0]
        if len(index):
            _add_greedy(stepper, boundaries, lengths, rules, results, policy, index)
    return canonical(stepper, boundaries, lengths, rules, results)


def _extend(
    stepper: Stepper[Any],
    state: Any,
    where: Configurations,
    rules: Rules,
    parses: Derivations,
    number: int,
    is_greedy: Bools,
) -> tuple[Ints, Derivations, Bools]:
    """The best parses that are one step longer, and the row that each of them extends.

    Labels are only scored where they can matter: for the best few pairs of a parse and a boundary.
    A pair that is worse than the worst parse to be kept leads to none of them, so if the last of
    these pairs is not, there have to be more.

    Args:
        stepper: scores the steps.
        state: of the rows
        where: the rows' configurations
        rules: of the rows
        parses: the parses so far
        number: how many steps they have made
        is_greedy: whether each parse is the greedy one of each policy, (policies, rows); returned
            for the longer ones, too
    """
    rows, beams, _ = parses.boundaries.shape
    logits = stepper.point_logits(state, where)
    points = rules.points(where, logits)
    width = points.shape[1]
    pairs = (parses.log_probs.reshape(-1, 1) + points).reshape(rows, beams * width)
    offset = np.arange(rows)[:, None] * beams
    few = _FEW * beams
    while True:
        few = min(few, pairs.shape[1])
        pair_scores, pair = _largest(pairs, few)
        parent, boundary = (pair // width + offset).ravel(), (pair % width).ravel()
        labels = label_log_probs(
            stepper,
            stepper.select(state, parent, each=few),
            where.rows(parent),
            rules.rows(parent),
            boundary,
        )
        count = labels.shape[1]
        total = (pair_scores.reshape(-1, 1) + labels).reshape(rows, few * count)
        scores, chosen = _largest(total, beams)
        order = np.argsort(-scores, axis=1, kind="stable")
        scores, chosen = _take(scores, order), _take(chosen, order)
        if few == pairs.shape[1] or not (pair_scores.min(1) > scores[:, -1]).any():
            break
        few *= 2
    pair = (chosen // count + np.arange(rows)[:, None] * few).ravel()
    label = (chosen % count).ravel()
    # A beam that holds no parse points to 0, which is never a dead end.
    is_parse = scores.ravel() > MINUS
    parent, boundary, label = parent[pair], boundary[pair] * is_parse, label * is_parse
    cost = np.where(is_parse, points[parent, boundary] + labels[pair, label], MINUS)
    aims = _greedy_points(where, rules, logits, points, is_greedy)
    is_greedy = (aims[:, parent] == boundary) & is_parse
    index = np.flatnonzero(is_greedy.any(0))
    is_greedy[:, index] &= labels[pair[index]].argmax(1) == label[index]
    columns = (parses.boundaries, parses.labels, parses.counts, parses.step_log_probs)
    boundaries, numbers, counts, costs = (
        column.reshape(rows * beams, *column.shape[2:])[parent].reshape(column.shape)
        for column in columns
    )
    boundaries[:, :, number] = boundary.reshape(rows, beams)
    numbers[:, :, number] = label.reshape(rows, beams)
    costs[:, :, number] = cost.reshape(rows, beams)
    counts += ~where.is_final[parent].reshape(rows, beams)
    return parent, Derivations(boundaries, numbers, counts, scores, costs), is_greedy


def _greedy_points(
    where: Configurations, rules: Rules, logits: Floats, points: Floats, is_greedy: Bools
) -> Ints:
    """The boundary that each policy points to from its own parse, and -1 for other rows."""
    aims = np.full(is_greedy.shape, -1)
    index = is_greedy[0].nonzero()[0]
    aims[0, index] = rules.rows(index).best_point(where.rows(index), logits[index], points[index])
    for aim, some in zip(aims[1:], is_greedy[1:], strict=True):
        aim[some] = points[some].argmax(-1)
    return aims


def _least(results: Derivations, rules: Rules) -> Floats:
    """The log-probability that another parse needs to be the best of its row: (rows,).

    With constraints it is -inf, since only canonical steps tell how probable a parse is.
    """
    best = results.log_probs[:, 0]
    return best if rules.limits is None else np.where(rules.limits.constrained, MINUS, best)


def _add_greedy(
    stepper: Stepper[Any],
    boundaries: Floats,
    lengths: Ints,
    rules: Rules,
    results: Derivations,
    policy: Policy | None,
    rows: Ints,
) -> None:
    """Put the greedy parses of some rows among those of the beam, of which the worst then goes."""
    choices = walk(stepper, boundaries[rows], lengths[rows], rules.rows(rows), policy)
    both = results.rows(rows).beside(derivations(choices, len(rows), boundaries))
    scores = both.log_probs.copy()
    scores[_least(results, rules)[rows] == MINUS, -1] = 0.0
    same = both.boundaries[:, :-1] == both.boundaries[:, -1:]
    same &= both.labels[:, :-1] == both.labels[:, -1:]
    scores[same.all(2).any(1), -1] = MINUS  # it is there already, by another policy
    results.put(rows, both.ranked(np.argsort(-scores, axis=1, kind="stable")[:, :-1]))


def _largest(values: Floats, count: int) -> tuple[Floats, Ints]:
    """The largest values of each row and where they are, in any order: (rows, count) twice."""
    index = np.argpartition(values, values.shape[1] - count, axis=1)[:, -count:]
    return _take(values, index), index


def _take(values: Any, index: Ints) -> Any:
    """`np.take_along_axis` on the last of two axes, which takes several times as long to begin."""
    return values[np.arange(len(values))[:, None], index]
