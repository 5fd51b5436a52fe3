from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.formats import Reading, read
from fencepost.run.convert import convert, join_layers, merge
from fencepost.structure import Parse, Sentence, Span, Tree

TREES = "(S (NP (NNP Ann)) (VP (VBD slept)))\n(S (NP (NNP Bo)) (VP (VBD woke)))\n"
ENTITIES = "Ann slept\n0,1 PER\n\nBo woke\n\n\n"


def files(tmp_path: Path, trees: str = TREES, entities: str = ENTITIES) -> tuple[Reading, Reading]:
    (tmp_path / "x.ptb").write_text(trees)
    (tmp_path / "x.data").write_text(entities)
    return Reading(tmp_path / "x.ptb"), Reading(tmp_path / "x.data")


def test_converting_there_and_back_gives_the_same_file(tmp_path: Path) -> None:
    trees, entities = files(tmp_path)
    assert convert(trees, tmp_path / "x.jsonl") == {"sentences": 2}
    assert convert(Reading(tmp_path / "x.jsonl"), tmp_path / "y.ptb") == {"sentences": 2}
    assert (tmp_path / "y.ptb").read_text() == TREES
    convert(entities, tmp_path / "x.conll")
    convert(Reading(tmp_path / "x.conll"), tmp_path / "y.data")
    assert (tmp_path / "y.data").read_text() == ENTITIES


def test_layers_that_a_format_cannot_say_are_counted(tmp_path: Path) -> None:
    merge(*files(tmp_path), tmp_path / "both.jsonl")
    counts = convert(Reading(tmp_path / "both.jsonl"), tmp_path / "trees.ptb")
    assert counts == {"sentences": 2, "entities layers that ptb cannot say": 2}


def test_merging_joins_the_layers_of_each_sentence(tmp_path: Path) -> None:
    assert merge(*files(tmp_path), tmp_path / "both.jsonl") == {"sentences": 2}
    first, second = read(tmp_path / "both.jsonl")
    assert str(first.tree) == TREES.splitlines()[0]
    assert first.entities == (Span(0, 1, "PER"),)
    assert second.entities == ()


def test_the_first_line_whose_words_differ_is_named(tmp_path: Path) -> None:
    trees, entities = files(tmp_path, entities="Ann slept\n\n\nBo walked\n\n\n")
    with pytest.raises(DataError) as raised:
        merge(trees, entities, tmp_path / "both.jsonl")
    assert str(raised.value) == (
        f"{tmp_path}/x.data:4: word 1 differs: 'walked', where the other file has 'woke' "
        f"(the other is {tmp_path}/x.ptb:2)"
    )
    assert not (tmp_path / "both.jsonl").exists()


@pytest.mark.parametrize(
    ("trees", "entities", "message"),
    [
        (TREES, "Ann slept\n\n\n", "x.data:1: .*x.data ends here, but .*x.ptb goes on at line 2"),
        ("", ENTITIES, "x.ptb: .*x.ptb ends here, but .*x.data goes on at line 1"),
    ],
)
def test_a_file_that_is_too_short_is_named(
    tmp_path: Path, trees: str, entities: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        merge(*files(tmp_path, trees, entities), tmp_path / "both.jsonl")


def test_shorter_sentences_differ_at_their_end() -> None:
    one, other = Parse(Sentence(("a", "b"))), Parse(Sentence(("a",)))
    with pytest.raises(DataError, match="word 1 differs: 'the end', where the other file has 'b'"):
        join_layers(one, other)


def test_a_layer_may_not_be_in_both() -> None:
    parse = Parse(Sentence(("a",)), entities=())
    with pytest.raises(DataError, match="both files say the entities"):
        join_layers(parse, parse)


def test_what_either_knows_of_the_sentence_is_kept() -> None:
    tree = Tree.from_brackets("(S (A a))")
    text = Sentence(("a",), text="a ", offsets=((0, 1),), id="one")
    joined = join_layers(Parse(tree.sentence, tree), Parse(text, None, (), (Span(0, 1, "X"),)))
    assert joined.sentence == Sentence(("a",), ("A",), "a ", ((0, 1),), "one")
    assert str(joined.tree) == "(S (A a))"
    assert joined.dropped == (Span(0, 1, "X"),)
    again = join_layers(Parse(text, None, ()), Parse(tree.sentence, tree))
    assert again.sentence == joined.sentence


class TestInPlace:
    def test_a_file_can_be_converted_onto_itself(self, tmp_path: Path) -> None:
        trees, _ = files(tmp_path)
        assert convert(trees, tmp_path / "x.ptb", indent=2) == {"sentences": 2}
        assert (tmp_path / "x.ptb").read_text().startswith("(S\n  (NP")
        assert [str(parse.tree) for parse in read(tmp_path / "x.ptb")] == TREES.splitlines()

    @pytest.mark.parametrize("out", ["x.ann", "x.txt", ".", "../pairs", "x.ann.gz"])
    def test_but_the_text_of_brat_is_not_written_over(self, tmp_path: Path, out: str) -> None:
        folder = tmp_path / "pairs"
        folder.mkdir()
        (folder / "x.txt").write_text("Ann  slept.\n\n  Bo woke.\n")
        (folder / "x.ann").write_text("T1\tPER 0 3\tAnn\n")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        for source in (folder, folder / "x.ann"):
            target = folder / out
            if out == "x.ann.gz":  # another pair
                convert(Reading(source, format="brat"), target, to="brat")
                assert {path.name for path in folder.iterdir()} == {*before, out, "x.txt.gz"}
                for name in (out, "x.txt.gz"):
                    (folder / name).unlink()
                continue
            with pytest.raises(DataError, match=r"x\.txt: this input would be written over"):
                convert(Reading(source, format="brat"), target, to="brat")
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_a_folder_of_pairs_may_lie_beside_other_files(self, tmp_path: Path) -> None:
        _, entities = files(tmp_path)
        assert convert(entities, tmp_path, to="brat") == {"sentences": 2}
        assert {path.suffix for path in tmp_path.iterdir()} == {".ann", ".txt", ".ptb", ".data"}
