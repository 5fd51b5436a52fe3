"""From file to pointings and back to the file, on everything there is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.formats import read, write
from fencepost.structure import Parse
from fencepost.tasks import constituency, entities
from fencepost.transition import pointings, replay
from tests.shared import SHARED, needs_shared_data

EXAMPLES = Path(__file__).parents[1] / "examples"
ODD = Path(__file__).parent / "data"
BOTH = ("train", "dev")


def through_pointings(parses: Iterator[Parse]) -> Iterator[Parse]:
    """Each parse, taken apart into pointings and put together from them alone."""
    for parse in parses:
        sentence = parse.sentence
        tree = found = None
        if parse.tree is not None:
            steps = pointings(constituency.encode(parse.tree))
            assert len(steps) <= 2 * len(sentence) - 1
            tree = constituency.decode(sentence, replay(steps), wrapper=parse.tree.wrapper)
        if parse.entities is not None:
            steps = pointings(entities.encode(parse.entities, len(sentence)))
            assert len(steps) <= max(1, 2 * len(sentence) - 1)
            found = entities.decode(replay(steps))
        yield Parse(sentence, tree, found)


def check(source: Path, out: Path) -> None:
    write(through_pointings(read(source)), out)
    expected = source.read_bytes()
    if source.suffix == ".jsonl":  # `tokens` is read as `words`; each line gets a version
        expected = expected.replace(b'"tokens": ', b'"words": ')
        expected = expected.replace(b'{"id": ', b'{"version": 1, "id": ')
    assert out.read_bytes() == expected


@pytest.mark.parametrize(
    "source", sorted([*EXAMPLES.glob("*.ptb"), *EXAMPLES.glob("*.data"), *ODD.iterdir()]), ids=str
)
def test_our_own_files_come_back_to_the_byte(source: Path, tmp_path: Path) -> None:
    check(source, tmp_path / source.name)


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *(f"{name}/const/{split}.ptb" for name in ("gum", "genia", "zh", "is") for split in BOTH),
        *(f"{name}/ner/{split}.data" for name in ("gum", "genia", "zh", "de") for split in BOTH),
        *(f"{name}/ner/dev.jsonl" for name in ("gum", "genia", "zh", "de")),  # the same again
    ],
)
def test_every_corpus_comes_back_to_the_byte(name: str, tmp_path: Path) -> None:
    source = SHARED / name
    check(source, tmp_path / source.name)
