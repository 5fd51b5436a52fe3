import json
from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.formats import ParseReader, read
from fencepost.run.convert import convert, join_layers, merge
from fencepost.structure import Parse, Sentence, Span, Tree

TREES = "(S (NP (NNP Ann)) (VP (VBD slept)))\n(S (NP (NNP Bo)) (VP (VBD woke)))\n"
FORMAT_OF = {"x.spacy": "spacy", "x.ann": "brat", "x.data": "data"}
ENTITIES = "Ann slept\n0,1 PER\n\nBo woke\n\n\n"


def files(
    tmp_path: Path, trees: str = TREES, entities: str = ENTITIES
) -> tuple[ParseReader, ParseReader]:
    (tmp_path / "x.ptb").write_text(trees)
    (tmp_path / "x.data").write_text(entities)
    return ParseReader(tmp_path / "x.ptb"), ParseReader(tmp_path / "x.data")


def test_converting_there_and_back_gives_the_same_file(tmp_path: Path) -> None:
    trees, entities = files(tmp_path)
    assert convert(trees, tmp_path / "x.jsonl") == {"sentences": 2}
    assert convert(ParseReader(tmp_path / "x.jsonl"), tmp_path / "y.ptb") == {"sentences": 2}
    assert (tmp_path / "y.ptb").read_text() == TREES
    convert(entities, tmp_path / "x.conll")
    convert(ParseReader(tmp_path / "x.conll"), tmp_path / "y.data")
    assert (tmp_path / "y.data").read_text() == ENTITIES


def test_layers_that_a_format_cannot_say_are_counted(tmp_path: Path) -> None:
    merge(*files(tmp_path), tmp_path / "both.jsonl")
    counts = convert(ParseReader(tmp_path / "both.jsonl"), tmp_path / "trees.ptb")
    assert counts == {"sentences": 2, "entities layers that ptb cannot say": 2}


EVERYTHING = (
    '{"id": "a-1", "words": ["Ann", "slept"], "tags": ["N", "V"], "tree": "(S (N Ann) (V slept))",'
    ' "entities": [[0, 1, "PER"]], "text": "Ann  slept"}\n'
)


@pytest.mark.parametrize(
    ("out", "lost"),
    [
        ("x.ptb", ("entities layers", "ids", "texts")),
        ("x.data", ("tree layers", "tags layers", "ids", "texts")),
        ("x.conll", ("tree layers", "tags layers", "ids", "texts")),
        ("x.ann", ("tree layers", "tags layers", "ids")),
        ("folder/", ("tree layers", "tags layers")),
        ("x.spacy", ("tree layers", "texts")),
        ("x.jsonl", ()),
        ("x.html", ()),
    ],
)
def test_every_field_that_a_format_cannot_say_is_counted_and_named(
    tmp_path: Path, out: str, lost: tuple[str, ...]
) -> None:
    if out.endswith("spacy"):
        pytest.importorskip("spacy")
    (tmp_path / "all.jsonl").write_text(EVERYTHING * 2)
    to = "brat" if out.endswith("/") else None
    counts = convert(ParseReader(tmp_path / "all.jsonl"), tmp_path / out, to=to)
    name = to or {"ann": "brat"}.get(out.split(".")[1], out.split(".")[1])
    assert counts == {"sentences": 2} | {f"{field} that {name} cannot say": 2 for field in lost}


@pytest.mark.parametrize(
    ("out", "text", "held"),
    [
        ("x.spacy", "Ann slept", True),
        ("x.spacy", " Ann slept\n", True),
        ("x.spacy", "Annslept", True),
        ("x.spacy", "Ann\tslept", False),
        ("x.ann", " Ann \tslept\n", True),
        ("x.ann", "Ann\nslept", False),
        ("x.data", "Ann slept", False),
    ],
)
def test_a_text_is_left_out_unless_all_between_its_words_comes_back(
    tmp_path: Path, out: str, text: str, held: bool
) -> None:
    if out.endswith("spacy"):
        pytest.importorskip("spacy")
    data = {"words": ["Ann", "slept"], "entities": [], "text": text}
    (tmp_path / "x.jsonl").write_text(json.dumps(data))
    counts = convert(ParseReader(tmp_path / "x.jsonl"), tmp_path / out)
    assert [name for name in counts if name.startswith("texts")] == (
        [] if held else [f"texts that {FORMAT_OF[out]} cannot say"]
    )
    (again,) = read(tmp_path / out)
    assert (again.sentence.text == text.strip()) == held


def test_a_text_with_more_than_its_words_is_left_out_of_brat(tmp_path: Path) -> None:
    data = {"text": "x Ann y", "offsets": [[2, 5]], "entities": []}
    (tmp_path / "x.jsonl").write_text(json.dumps(data))
    assert convert(ParseReader(tmp_path / "x.jsonl"), tmp_path / "x.ann") == {
        "sentences": 1,
        "texts that brat cannot say": 1,
    }


def test_probabilities_that_a_format_cannot_say_are_counted(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy.tokens")
    doc = spacy.Doc(pytest.importorskip("spacy.vocab").Vocab(), words=["Ann"])
    doc.spans["sc"] = [spacy.Span(doc, 0, 1, "PER")]
    doc.spans["sc"].attrs["scores"] = [0.5]
    spacy.DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "x.spacy")
    counts = convert(ParseReader(tmp_path / "x.spacy"), tmp_path / "x.conll")
    assert counts["probabilities that conll cannot say"] == 1
    counts = convert(ParseReader(tmp_path / "x.spacy"), tmp_path / "t.tsv", to="tsv")
    assert not counts["probabilities that tsv cannot say"]


def test_a_sentence_that_cannot_be_written_is_named_by_file_and_line(tmp_path: Path) -> None:
    trees, entities = files(tmp_path, "\n" + TREES, "Ann slept\n0,1 a b\n\nBo woke\n\n\n")
    with pytest.raises(DataError) as raised:
        convert(trees, tmp_path / "out.data")
    assert str(raised.value) == (
        f"{tmp_path}/x.ptb:2: sentence 1: this sentence has no entities annotated, not even none"
    )
    with pytest.raises(DataError, match=r"x\.ptb:2: sentence 1: the label 'a b' is empty or holds"):
        merge(ParseReader(tmp_path / "x.ptb"), entities, tmp_path / "out.conll")


def test_merging_into_a_format_with_one_layer_tells_what_is_left_out(tmp_path: Path) -> None:
    assert merge(*files(tmp_path), tmp_path / "both.data") == {
        "sentences": 2,
        "tree layers that data cannot say": 2,
        "tags layers that data cannot say": 2,
    }


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
                convert(ParseReader(source, format="brat"), target, to="brat")
                assert {path.name for path in folder.iterdir()} == {*before, out, "x.txt.gz"}
                for name in (out, "x.txt.gz"):
                    (folder / name).unlink()
                continue
            with pytest.raises(DataError, match=r"x\.txt: this input would be written over"):
                convert(ParseReader(source, format="brat"), target, to="brat")
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_a_folder_of_pairs_may_lie_beside_other_files(self, tmp_path: Path) -> None:
        _, entities = files(tmp_path)
        assert convert(entities, tmp_path, to="brat") == {"sentences": 2}
        assert {path.suffix for path in tmp_path.iterdir()} == {".ann", ".txt", ".ptb", ".data"}
