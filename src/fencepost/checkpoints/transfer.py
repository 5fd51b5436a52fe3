"""Transfer of weights between models: shared labels and words keep theirs, others are new."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch

from fencepost.batching.vocabulary import FILLER, RESERVED, Labels, Vocabulary
from fencepost.checkpoints.trainable import TrainableModel, new_model
from fencepost.config import NetworkSettings, WordsSettings
from fencepost.errors import ConfigError, ModelError
from fencepost.model.encoder import WordEncoder
from fencepost.runtime.shapes import LABEL_TABLES
from fencepost.tasks.labels import split

_SHOWN = 10  # labels in a note

Pairs = Sequence[tuple[int, int]]  # rows of the old weights and of the new ones


def transfer_weights(
    old: TrainableModel, new: TrainableModel, *, calibrated: Collection[str] = ()
) -> tuple[TrainableModel, list[str]]:
    """A model with the settings of a new one and the weights of an old one.

    It has the labels of the new model, and the words and characters of both, the old ones first.
    Weights are random for labels and words that the old model lacks, and for a head whose
    settings differ or that has no label in common.

    Args:
        old: the model to start from.
        new: the model with the new settings and labels.
        calibrated: heads that take over their temperatures.

    Returns:
        The model, and notes on the labels and heads that are new or left behind.

    Raises:
        ModelError: the two networks read other things, or have other sizes.
    """
    _check_encoders(old, new)
    numbers = replace(
        new.numbers,
        words=extended(old.numbers.words, new.numbers.words),
        characters=extended(old.numbers.characters, new.numbers.characters),
    )
    model = (
        new
        if numbers == new.numbers
        else new_model(new.network_settings, new.heads, numbers, new.pretrained, search=new.search)
    )
    fresh = {
        name: reason
        for name in set(old.numbers.labels) & set(model.numbers.labels)
        if (reason := _why_fresh(old, model, name))
    }
    _copy(old, model, fresh)
    _copy_static(new, model)
    for name in calibrated:
        if name in model.network.layers:
            model.network.head(name).temperature = old.network.temperature(name)
    return model, _notes(old, model, fresh)


def _why_fresh(old: TrainableModel, new: TrainableModel, head: str) -> str:
    """Why a head of both models gets random weights; empty if it does not."""
    names = [set(model.numbers.labels[head].names) for model in (old, new)]
    if not names[0] & names[1]:
        return "it has no label in common"
    differences = old.heads.differences(new.heads, head)
    return f"its settings differ there and here: {', '.join(differences)}" if differences else ""


def check_sizes(old: NetworkSettings, new: NetworkSettings) -> None:
    """Refuse sizes that contradict those of the model to start from, as far as settings tell.

    Raises:
        ConfigError: the sizes, or the kinds of encoder, differ.
    """
    names = ["lstm_layers", *(["lstm_hidden"] if old.lstm_layers else [])]
    pairs = [(f"network.{name}", getattr(old, name), getattr(new, name)) for name in names]
    pairs.insert(0, ("network.encoder.kind", old.encoder.kind, new.encoder.kind))
    if isinstance(old.encoder, WordsSettings) and isinstance(new.encoder, WordsSettings):
        for name in ("word_width", "character_width", "character_hidden"):
            theirs, ours = getattr(old.encoder, name), getattr(new.encoder, name)
            pairs.append((f"network.encoder.{name}", theirs, ours))
    for key, theirs, ours in pairs:
        if theirs != ours:
            raise ConfigError(
                f"{key}: {ours!r}, where the model of training.init has {theirs!r}; the sizes of "
                "the network have to be the same. Leave it out: it comes from the model"
            )


def _check_encoders(old: TrainableModel, new: TrainableModel) -> None:
    kinds = [model.network_settings.encoder.kind for model in (old, new)]
    if kinds[0] != kinds[1]:
        raise ModelError(f"training.init: its encoder is {kinds[0]!r}, and here it is {kinds[1]!r}")
    if old.pretrained is not None and new.pretrained is not None:
        pieces = [model.cutter.tokenizer.get_vocab() for model in (old.pretrained, new.pretrained)]
        if pieces[0] != pieces[1]:
            raise ModelError("training.init: its tokenizer has other pieces than the one here")


def extended(old: Vocabulary | None, new: Vocabulary | None) -> Vocabulary | None:
    """Append the items of a new vocabulary that an old one lacks.

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
    fresh_heads = tuple("tags." if name == "tags" else f"heads.{name}." for name in fresh)
    weights = old.network.state_dict()
    for name, value in new.network.state_dict().items():
        if name not in weights or name.startswith(("encoder.static.", *fresh_heads)):
            continue
        old_value = weights[name]
        by_row = name in rows
        if old_value.shape[by_row:] != value.shape[by_row:]:
            raise ModelError(
                f"training.init: {name} has the shape {tuple(old_value.shape)} there and "
                f"{tuple(value.shape)} here; the sizes of the network have to be the same"
            )
        if by_row:
            before, after = (list(side) for side in zip(*rows[name], strict=True))
            value[after] = old_value[before].to(value)
        else:
            value.copy_(old_value)


def _copy_static(new: TrainableModel, model: TrainableModel) -> None:
    """Copy the static vectors, which are always those of the new model's file."""
    source, target = new.network.encoder, model.network.encoder
    if isinstance(source, WordEncoder) and isinstance(target, WordEncoder) and source.static:
        target.set_static(source.static.weight[RESERVED:])


def _rows(old: TrainableModel, new: TrainableModel) -> Mapping[str, Pairs]:
    """The weights with a row for each label, word or character, and the rows to copy."""
    rows: dict[str, Pairs] = {}
    for kind in ("words", "characters"):
        vocabulary: Vocabulary | None = getattr(old.numbers, kind)
        if vocabulary is not None:  # new items are appended, so each row stays where it is
            rows[f"encoder.{kind}.weight"] = [(row, row) for row in range(len(vocabulary))]
    for head in set(old.numbers.labels) & set(new.numbers.labels):
        pairs = label_pairs(old.numbers.labels[head], new.numbers.labels[head])
        if head == "tags":
            rows |= {"tags.weight": pairs, "tags.bias": pairs}
        else:
            rows[f"heads.{head}.label_vectors"] = pairs
            # Row 0 of these tables stands for no span at all, so each label is one row later.
            shifted = [(0, 0), *((before + 1, after + 1) for before, after in pairs)]
            rows |= {f"heads.{head}.{name}": shifted for name in LABEL_TABLES}
    return rows


def label_pairs(old: Labels, new: Labels) -> Pairs:
    """The rows of the labels in both, the filler's included.

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
            added = _differing(after[head], before[head], joined=head != "tags")
            removed = _differing(before[head], after[head], joined=head != "tags")
            if added:
                notes.append(f"labels of {head} that are new: {added}")
            if removed:
                notes.append(
                    f"labels of {head} that are left behind: {removed}; "
                    f'training.keep_labels = ["{head}"] would keep them'
                )
    return notes


def _differing(labels: Labels, others: Labels, *, joined: bool) -> str:
    """The labels that others lack, the most common first; empty if there are none.

    Args:
        labels: in the order of their frequency.
        others: those to compare with.
        joined: whether several labels on the same words are one.

    >>> _differing(Labels(("S", "X", "S+X", "S+S")), Labels(("S",)), joined=True)
    '1 (X) and 2 combinations on the same words'
    """
    differing = [name for name in labels.names if others.number(name) is None]
    plain, combinations = differing, 0
    if joined:
        known = {part for name in others.names for part in split(name)}
        parts = dict.fromkeys(part for name in differing for part in split(name))
        plain = [part for part in parts if part not in known]
        combinations = sum(len(split(name)) > 1 for name in differing)
    told = []
    if plain:
        more = ", …" if len(plain) > _SHOWN else ""
        told.append(f"{len(plain)} ({', '.join(plain[:_SHOWN])}{more})")
    if combinations:
        s = "s" if combinations > 1 else ""
        told.append(f"{combinations} combination{s} on the same words")
    return " and ".join(told)
