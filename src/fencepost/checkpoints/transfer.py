"""The weights of one model for another: what both know keeps its weights, the rest is fresh."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch

from fencepost.batching.vocabulary import FILLER, RESERVED, Labels, Vocabulary
from fencepost.checkpoints.trainable import TrainableModel, new_model
from fencepost.errors import ModelError
from fencepost.model.encoder import WordEncoder
from fencepost.runtime.shapes import LABEL_TABLES

Pairs = Sequence[tuple[int, int]]  # rows of the old weights and of the new


def transferred(
    old: TrainableModel, new: TrainableModel, *, kept: Collection[str] = ()
) -> tuple[TrainableModel, list[str]]:
    """A model for what a new one is to learn, with what an old one has learned.

    It has the labels of the new model, and the words and characters of both, with the old ones in
    front. Whatever the old model does not know keeps random weights, and so does a head whose
    settings differ, or that has no label in common.

    Args:
        old: the model to start from.
        new: has the settings and labels that are wanted.
        kept: heads that stay as they are, with their temperatures.

    Returns:
        The model, and notes on what was added and what was left behind.

    Raises:
        ModelError: the two networks read other things, or have other sizes.
    """
    _check_encoders(old, new)
    numbers = replace(
        new.numbers,
        words=extended(old.numbers.words, new.numbers.words),
        characters=extended(old.numbers.characters, new.numbers.characters),
    )
    model = new
    if numbers != new.numbers:
        model = new_model(
            new.network_settings, new.heads, numbers, new.pretrained, search=new.search
        )
    fresh = {
        name: reason
        for name in set(old.numbers.labels) & set(model.numbers.labels)
        if (reason := _why_fresh(old, model, name))
    }
    _copy(old, model, fresh)
    _keep_static(new, model)
    for name in kept:
        if name in model.network.layers:
            model.network.head(name).temperature = old.network.temperature(name)
    return model, _notes(old, model, fresh)


def _why_fresh(old: TrainableModel, new: TrainableModel, head: str) -> str:
    """Why a head begins anew although the old model has one; empty if it goes on from that."""
    names = [set(model.numbers.labels[head].names) for model in (old, new)]
    if not names[0] & names[1]:
        return "it has no label in common"
    differences = old.heads.differences(new.heads, head)
    return f"its settings differ there and here: {', '.join(differences)}" if differences else ""


def _check_encoders(old: TrainableModel, new: TrainableModel) -> None:
    kinds = [model.network_settings.encoder.kind for model in (old, new)]
    if kinds[0] != kinds[1]:
        raise ModelError(f"training.init: its encoder is {kinds[0]!r}, and here it is {kinds[1]!r}")
    if old.pretrained is not None and new.pretrained is not None:
        pieces = [model.cutter.tokenizer.get_vocab() for model in (old.pretrained, new.pretrained)]
        if pieces[0] != pieces[1]:
            raise ModelError("training.init: its tokenizer has other pieces than the one here")


def extended(old: Vocabulary | None, new: Vocabulary | None) -> Vocabulary | None:
    """The items of an old vocabulary as they are, then those that are new.

    >>> extended(Vocabulary(("b", "a"), (9, 5)), Vocabulary(("a", "c"), (3, 2)))
    Vocabulary(items=('b', 'a', 'c'), counts=(9, 5, 2))
    """
    if old is None or new is None:  # a transformer has pieces instead
        return new
    known = set(old.items)
    added = [pair for pair in zip(new.items, new.counts, strict=True) if pair[0] not in known]
    return Vocabulary(
        old.items + tuple(item for item, _ in added),
        old.counts + tuple(count for _, count in added),
    )


@torch.no_grad()
def _copy(old: TrainableModel, new: TrainableModel, fresh: Collection[str]) -> None:
    rows = _rows(old, new)
    begun_anew = tuple("tags." if name == "tags" else f"heads.{name}." for name in fresh)
    weights = old.network.state_dict()
    for name, value in new.network.state_dict().items():
        if name not in weights or name.startswith(("encoder.static.", *begun_anew)):
            continue
        theirs = weights[name]
        by_row = name in rows
        if theirs.shape[by_row:] != value.shape[by_row:]:
            raise ModelError(
                f"training.init: {name} has the shape {tuple(theirs.shape)} there and "
                f"{tuple(value.shape)} here; the sizes of the network have to be the same"
            )
        if by_row:
            before, after = (list(side) for side in zip(*rows[name], strict=True))
            value[after] = theirs[before].to(value)
        else:
            value.copy_(theirs)


def _keep_static(new: TrainableModel, model: TrainableModel) -> None:
    """Static vectors are those of the new model's file, whatever the old one had."""
    source, target = new.network.encoder, model.network.encoder
    if isinstance(source, WordEncoder) and isinstance(target, WordEncoder) and source.static:
        target.set_static(source.static.weight[RESERVED:])


def _rows(old: TrainableModel, new: TrainableModel) -> Mapping[str, Pairs]:
    """The weights that have a row for each label, word or character, and which rows stay."""
    rows: dict[str, Pairs] = {}
    for kind in ("words", "characters"):
        vocabulary: Vocabulary | None = getattr(old.numbers, kind)
        if vocabulary is not None:  # others were appended, so each row stays where it is
            rows[f"encoder.{kind}.weight"] = [(row, row) for row in range(len(vocabulary))]
    for head in set(old.numbers.labels) & set(new.numbers.labels):
        pairs = label_pairs(old.numbers.labels[head], new.numbers.labels[head])
        if head == "tags":
            rows |= {"tags.weight": pairs, "tags.bias": pairs}
        else:
            rows[f"heads.{head}.label_vectors"] = pairs
            # Row 0 of these stands for no span at all, and each label comes one row later.
            behind = [(0, 0), *((before + 1, after + 1) for before, after in pairs)]
            rows |= {f"heads.{head}.{name}": behind for name in LABEL_TABLES}
    return rows


def label_pairs(old: Labels, new: Labels) -> Pairs:
    """The rows of the labels that both have, the filler's included.

    >>> label_pairs(Labels(("NP", "VP")), Labels(("S", "VP")))
    [(0, 0), (2, 2)]
    """
    numbers = {name: number for number, name in enumerate(new.names, 1)}
    both = [(row, numbers[name]) for row, name in enumerate(old.names, 1) if name in numbers]
    return [(FILLER, FILLER), *both]


def _notes(old: TrainableModel, new: TrainableModel, fresh: Mapping[str, str]) -> list[str]:
    notes = []
    before, after = old.numbers.labels, new.numbers.labels
    for head in sorted(set(before) | set(after)):
        if head not in after:
            notes.append(f"the head {head} is left behind")
        elif head not in before:
            notes.append(f"the head {head} is new")
        elif head in fresh:
            notes.append(f"the head {head} begins anew, since {fresh[head]}")
        else:
            ours, theirs = set(after[head].names), set(before[head].names)
            for names, what in ((ours - theirs, "new"), (theirs - ours, "left behind")):
                if names:
                    notes.append(f"labels of {head} that are {what}: {', '.join(sorted(names))}")
    return notes
