"""The metadata of model cards, for the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from fencepost.errors import ConfigError

Scores = Mapping[str, Mapping[str, float]]  # by data set and task: {"GUM dev": {"tree": 88.7}}


class _Task(NamedTuple):
    """The hub's names for a task."""

    tag: str
    metric: str
    metric_name: str  # distinct, since the hub puts all metrics of a data set together


_TASKS = {
    "tree": _Task("constituency-parsing", "f1", "F1 of brackets (EVALB)"),
    "entities": _Task("named-entity-recognition", "f1", "F1 of nested entities (strict match)"),
    "tags": _Task("part-of-speech-tagging", "accuracy", "accuracy of part-of-speech tags"),
}
_PIPELINE = "token-classification"  # the hub has none for parsing


def with_metadata(
    card: str,
    *,
    name: str,
    tasks: Collection[str],
    licence: str | None = None,
    language: str | Sequence[str] | None = None,
    datasets: Sequence[str] = (),
    tags: Sequence[str] = (),
    scores: Scores | None = None,
) -> str:
    """Add metadata to a card; entries that are not named here stay.

    Args:
        card: the text, with or without metadata.
        name: the name of the model.
        tasks: the tasks of the model.
        licence: the hub's identifier, such as `apache-2.0` or `cc-by-nc-sa-4.0`.
        language: language codes, such as `en`.
        datasets: the training data, by their names on the hub.
        tags: more tags for the hub's search, besides those of the tasks.
        scores: in per cent, by data set and task.

    Raises:
        ConfigError: a score is wrong, or the metadata of the card is no YAML.
    """
    from huggingface_hub import ModelCard, ModelCardData

    for values in (datasets, tags):
        if isinstance(values, str):
            raise ConfigError(f"a list is expected, as in [{values!r}], not {values!r}")
    metadata: dict[str, Any] = {}
    text = card
    if card.startswith("---"):
        try:
            old = ModelCard(card)
        except Exception as error:  # of YAML, or of the library
            raise ConfigError(f"the metadata of the model card cannot be read: {error}") from error
        metadata, text = old.data.to_dict(), old.text  # type: ignore[no-untyped-call]
    changes = {
        "license": licence,
        "language": language,
        "datasets": list(datasets) or None,
        "library_name": "fencepost",
        "pipeline_tag": metadata.get("pipeline_tag", _PIPELINE),
        "tags": list(
            dict.fromkeys(
                [*(metadata.get("tags") or ()), *(_TASKS[task].tag for task in tasks), *tags]
            )
        ),
    }
    if scores:
        metadata.pop("model-index", None)
        changes |= {"model_name": name, "eval_results": _results(scores, tasks)}
    metadata |= {key: value for key, value in changes.items() if value is not None}
    return f"---\n{ModelCardData(**metadata).to_yaml()}\n---\n\n{text.lstrip()}"


def _results(scores: Scores, tasks: Collection[str]) -> list[Any]:
    from huggingface_hub import EvalResult

    results = []
    for dataset, values in scores.items():
        for task, value in values.items():
            if task not in tasks:
                raise ConfigError(
                    f"scores: {task!r} is no task of this model; it has {', '.join(tasks)}"
                )
            if not 0 <= value <= 100:
                raise ConfigError(f"scores: {value!r} is no per cent")
            names = _TASKS[task]
            results.append(
                EvalResult(
                    task_type=_PIPELINE,
                    task_name="Trees, entities and tags",
                    dataset_type="-".join(dataset.lower().split()),
                    dataset_name=dataset,
                    metric_type=names.metric,
                    metric_name=names.metric_name,
                    metric_value=value,
                )
            )
    return results
