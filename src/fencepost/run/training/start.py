"""Starting from a model: settings that it fills in, heads that it keeps and what they rehearse."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fencepost.checkpoints.loading import open_model
from fencepost.checkpoints.model import Model
from fencepost.checkpoints.shipped import find_model
from fencepost.config import Corpus, HeadsSettings, Settings, checked, read_table
from fencepost.errors import ConfigError
from fencepost.structure import Parse
from fencepost.tasks.layers import POINTING

# For what `[training]` leaves out: much of the model is trained already, and there is little data.
GOING_ON: Mapping[str, Any] = {
    "batch_words": 400,
    "rate": 1e-3,
    "encoder_rate": 2e-4,
    "layer_decay": 0.9,
    "betas": [0.9, 0.98],
    "weight_decay": 0.01,
    "average": 0.99,
}


def settings_of_run(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> Settings:
    """The settings in a TOML file; a model to start from fills in what they leave out.

    Args:
        path: the file.
        changes: settings that differ from it, as in `training.epochs=3`.
    """
    data = filled(read_table(path, changes=changes))
    missing = [name for name in ("network", "heads") if name not in data]
    if missing and set(data) <= set(Settings.model_fields):
        raise ConfigError(
            f"{path}: [{missing[0]}] is missing. Either all of it is said here, or [training] has "
            'init = "en-small" (or the folder of another model), and network and heads are those '
            "of that model"
        )
    return checked(Settings, data, where=str(path))


def filled(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings with those of the model in `training.init`, if there is one, where they have none.

    `[heads]` names the heads: without it, they are those of the model.
    """
    training = data.get("training")
    init = training.get("init") if isinstance(training, dict) else None
    if not isinstance(training, dict) or not isinstance(init, str):
        return data
    with open_model(find_model(init)) as model:
        network, heads = model.network.model_dump(), model.heads.model_dump(exclude_none=True)
        search = model.search.model_dump()
    own_network, own_heads = data.get("network", {}), data.get("heads", heads)
    if isinstance(own_network, dict) and "encoder" in own_network:
        theirs, ours = network["encoder"], own_network["encoder"]
        if isinstance(ours, dict) and ours.get("kind", theirs["kind"]) == theirs["kind"]:
            own_network = {**own_network, "encoder": theirs | ours}
    if isinstance(own_heads, dict):
        own_heads = {name: _over(heads.get(name, {}), head) for name, head in own_heads.items()}
        pointing = [head.get("pointing") for head in own_heads.values() if isinstance(head, dict)]
        if "nearest-first" in pointing:
            training = {"pointing_loss": "canonical", **training}
    return {
        **data,
        "network": _over(network, own_network),
        "heads": own_heads,
        "search": _over(search, data.get("search", {})),
        "training": {**GOING_ON, **training},
    }


def _over(below: Mapping[str, Any], above: Any) -> Any:
    """A table laid over another; what is no table is for the check of settings to refuse."""
    return {**below, **above} if isinstance(above, dict) else above


def kept_heads(
    heads: HeadsSettings, base: Model | None, parses: Sequence[tuple[Corpus, Parse]]
) -> tuple[str, ...]:
    """The heads that stay those of a model to start from: no sentence has their layer.

    Raises:
        ConfigError: the settings of such a head are others than in the model.
    """
    if base is None:
        return ()
    kept = tuple(
        name
        for name in heads.names
        if name in base.heads.names
        and not any(_teaches(corpus, parse, name) for corpus, parse in parses)
    )
    for name in kept:
        differences = base.heads.differences(heads, name)
        if differences:
            raise ConfigError(
                f"heads.{name}: no sentence to train on has this layer, so the head has to stay as "
                f"it is in the model of training.init; different there and here: "
                f"{', '.join(differences)}"
            )
    return kept


def _teaches(corpus: Corpus, parse: Parse, name: str) -> bool:
    wanted = corpus.layers is None or name in corpus.layers
    return wanted and getattr(parse, name) is not None


def rehearsing(
    parses: Sequence[tuple[Corpus, Parse]], silver: Sequence[Parse], kept: Collection[str]
) -> list[tuple[Corpus, Parse]]:
    """Sentences to train on, with the layers of kept heads as the model has parsed them."""
    return [
        (corpus if corpus.layers is None else _with_layers(corpus, kept), _joined(gold, own, kept))
        for (corpus, gold), own in zip(parses, silver, strict=True)
    ]


def _with_layers(corpus: Corpus, kept: Collection[str]) -> Corpus:
    return corpus.model_copy(update={"layers": (*(corpus.layers or ()), *kept)})


def _joined(gold: Parse, silver: Parse, kept: Collection[str]) -> Parse:
    tags = (silver if "tags" in kept else gold).tags
    sentence = replace(gold.sentence, tags=tags)
    layers = {name: getattr(silver.over(sentence), name) for name in POINTING if name in kept}
    return replace(gold.over(sentence), **layers)
