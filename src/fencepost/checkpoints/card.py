"""Model cards: the metadata before their text, as the Hugging Face hub shows and searches them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from fencepost.errors import ConfigError

Scores = Mapping[str, Mapping[str, float]]  # by data set and task: {"GUM dev": {"tree": 88.7}}


class _Task(NamedTuple):
    """A task of ours as the hub names it."""

    tag: str
    metric: str
    metric_name: str  # that tells it from others: the hub puts all of a data set together


_TASKS = {
    "tree": _Task("constituency-parsing", "f1", "F1 of brackets (EVALB)"),
    "entities": _Task("named-entity-recognition", "f1", "F1 of nested entities (strict match)"),
    "tags": _Task("part-of-speech-tagging", "accuracy", "accuracy of part-of-speech tags"),
}
_PIPELINE = "token-classification"  # the nearest of those that the hub knows


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
    """A card with metadata before it; what it had and nobody changes stays.

    Args:
        card: the text, with or without metadata.
        name: of the model.
        tasks: those of the model.
        licence: as the hub abbreviates it, such as `apache-2.0` or `cc-by-nc-sa-4.0`.
        language: codes such as `en`.
        datasets: what it was trained on, as the hub names them.
        tags: to be found by, besides those of the tasks.
        scores: in per cent, by data set and task.

    Raises:
        ConfigError: the scores are no scores of this model, or the metadata of the card no YAML.
    """
    from huggingface_hub import ModelCard, ModelCardData

    for values in (datasets, tags):
        if isinstance(values, str):
            raise ConfigError(f"a list is expected, as in [{values!r}], not {values!r}")
    known: dict[str, Any] = {}
    text = card
    if card.startswith("---"):
        try:
            old = ModelCard(card)
        except Exception as error:  # YAML's own, and the library's
            raise ConfigError(f"the metadata of the model card cannot be read: {error}") from error
        known, text = old.data.to_dict(), old.text  # type: ignore[no-untyped-call]
    told = {
        "license": licence,
        "language": language,
        "datasets": list(datasets) or None,
        "library_name": "fencepost",
        "pipeline_tag": known.get("pipeline_tag", _PIPELINE),
        "tags": list(
            dict.fromkeys(
                [*(known.get("tags") or ()), *(_TASKS[task].tag for task in tasks), *tags]
            )
        ),
    }
    if scores:
        known.pop("model-index", None)
        told |= {"model_name": name, "eval_results": _results(scores, tasks)}
    data = ModelCardData(**known | {key: value for key, value in told.items() if value is not None})
    return f"---\n{data.to_yaml()}\n---\n\n{text.lstrip()}"


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
            known = _TASKS[task]
            results.append(
                EvalResult(
                    task_type=_PIPELINE,
                    task_name="Trees, entities and tags",
                    dataset_type="-".join(dataset.lower().split()),
                    dataset_name=dataset,
                    metric_type=known.metric,
                    metric_name=known.metric_name,
                    metric_value=value,
                )
            )
    return results
