"""Unlikely annotations are listed, the least likely first, wherever they stand."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import fencepost
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.cli.audit import _told_counts, _told_finding
from fencepost.cli.audit import audit as command
from fencepost.errors import ConfigError, DataError, FencepostError
from fencepost.formats import ReadSettings
from fencepost.parser.encoding import encode
from fencepost.parser.predict import predict
from fencepost.parser.steps import forced_steps
from fencepost.run import audit as module
from fencepost.run.audit import (
    COLUMNS,
    Audit,
    Finding,
    Placed,
    Unknown,
    audit,
    audit_parses,
    write_findings,
)
from fencepost.run.progress import T, Watched
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.models import lively_model
from tests.parser.making import make_step
from tests.parser.test_steps import golds

GUIDE = Path(__file__).parents[2] / "docs/guides/audit.md"
MODEL = lively_model("tree", "entities", "tags")
MODEL.network.eval()


def entities(text: str, *spans: tuple[int, int, str]) -> Parse:
    return Parse(Sentence(tuple(text.split())), entities=tuple(Span(*span) for span in spans))


def placed(parses: Iterable[Parse]) -> list[Placed]:
    return [Placed("x", line, parse) for line, parse in enumerate(parses, 1)]


SOME = [
    entities("a b c", (0, 1, "S")),
    entities("b"),
    entities("c a b a b", (1, 3, "S"), (2, 3, "S"), (3, 5, "S")),
    entities("b b b", (0, 3, "S"), (0, 2, "S")),
    entities("d c"),
    entities("a b c", (0, 1, "S")),
]


class TestRanking:
    @settings(max_examples=20)
    @given(st.lists(golds(), min_size=1, max_size=4), st.integers(1, 5))
    def test_the_first_are_those_with_the_least_likely_of_all_doubted_steps(
        self, some: list[Parse], top: int
    ) -> None:
        expected = []
        for parse in some:
            encoded = encode(MODEL, [parse.sentence], tasks=())
            for layer in ("tree", "entities"):
                (steps,) = forced_steps(MODEL, encoded, [parse], layer=layer)
                doubted = [step.log_prob for step in steps if step.is_doubted]
                if doubted:
                    expected.append(min(doubted))
        expected.sort()
        found = audit_parses(MODEL, placed(some), top=top).findings
        assert len(found) == min(top, len(expected))
        for finding, least in zip(found, expected, strict=False):
            log_probs = [step.log_prob for step in finding.steps]
            assert log_probs == sorted(log_probs)
            assert log_probs[0] == pytest.approx(least, abs=1e-4)
        every = audit_parses(MODEL, placed(some), top=None).findings
        assert len(every) == len(expected)

    def test_as_likely_ones_stay_in_their_order_and_batches_change_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        every = audit_parses(MODEL, placed(SOME), top=None)
        lines = [finding.line for finding in every.findings]
        assert abs(lines.index(6) - lines.index(1)) == 1, "the same sentence twice"
        twice = {6: 1}  # which of the two is first, rounding decides
        monkeypatch.setattr(module, "_CHUNK_WORDS", 4)
        apart = audit_parses(MODEL, placed(SOME), top=None)
        found = [twice.get(finding.line, finding.line) for finding in apart.findings]
        assert found == [twice.get(line, line) for line in lines]
        assert (apart.sentences, apart.words, apart.steps, apart.doubted) == (
            every.sentences,
            every.words,
            every.steps,
            every.doubted,
        )
        few = audit_parses(MODEL, placed(SOME), top=2)
        found = [twice.get(finding.line, finding.line) for finding in few.findings]
        assert found == [twice.get(line, line) for line in lines[:2]]
        assert few.doubted == every.doubted

    def test_sentences_are_judged_while_others_are_still_to_be_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_CHUNK_WORDS", 4)
        read = 0
        read_before: list[int] = []
        judge = module._findings

        def reading() -> Iterator[Placed]:
            nonlocal read
            for read, one in enumerate(placed(SOME), 1):  # noqa: B007
                yield one

        def judging(*arguments: object) -> list[Finding]:
            read_before.append(read)
            return judge(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "_findings", judging)
        audit_parses(MODEL, reading())
        assert read_before == [2, 3, 5, 6]

    def test_what_the_model_would_have_found_itself_is_never_listed(self) -> None:
        sentences = [parse.sentence for parse in SOME]
        found = audit_parses(MODEL, placed(predict(MODEL, sentences)))
        assert found.findings == []
        assert found.doubted.total() == 0
        assert set(found.steps) == {"tree", "entities"}

    def test_a_model_that_is_learning_judges_the_same_and_goes_on_learning(self) -> None:
        expected = audit_parses(MODEL, placed(SOME)).findings
        MODEL.network.train()
        try:
            assert audit_parses(MODEL, placed(SOME)).findings == expected
            assert MODEL.network.training
        finally:
            MODEL.network.eval()


class TestLayers:
    def test_only_what_is_annotated_and_asked_for_is_judged(self) -> None:
        words = Sentence(("a", "b"))
        tree = Tree(words, (Span(0, 2, "S"),))
        some = placed([Parse(words), Parse(words, tree), Parse(words, tree, ()), Parse(words)])
        found = audit_parses(MODEL, some)
        assert (found.sentences, found.words) == (2, 4)
        assert found.steps == {"tree": 2, "entities": 1}
        found = audit_parses(MODEL, some, tasks=["entities"])
        assert (found.sentences, found.steps) == (1, {"entities": 1})

    def test_a_sentence_without_words_is_passed_over(self) -> None:
        found = audit_parses(MODEL, placed([Parse(Sentence(()), entities=()), SOME[0]]))
        assert found.sentences == 1
        assert audit_parses(MODEL, []).steps == {}

    def test_a_head_that_is_not_there_cannot_be_asked(self) -> None:
        with pytest.raises(ConfigError, match="no head for 'tree'; it has entities"):
            audit_parses(lively_model("entities"), placed(SOME), tasks=["tree"])

    def test_unknown_labels_are_listed_apart(self) -> None:
        some = [
            entities("a b c", (0, 1, "XX")),
            entities("a b c", (0, 1, "YY"), (1, 2, "S")),
            entities("a b c", (0, 1, "YY")),
        ]
        found = audit_parses(MODEL, placed(some))
        assert found.unknown_labels == [
            Unknown("entities", "YY", "x", 2, 2),
            Unknown("entities", "XX", "x", 1, 1),
        ]
        for finding in found.findings:
            assert not {step.span.label for step in finding.steps} & {"XX", "YY"}
            assert all(step.probability > 0 for step in finding.steps)
        assert found.to_dict()["unknown_labels"][0] == {
            "layer": "entities",
            "label": "YY",
            "count": 2,
            "path": "x",
            "line": 2,
        }


class TestFiles:
    def test_findings_know_their_file_and_line(self, tmp_path: Path) -> None:
        trees, data = tmp_path / "x.ptb", tmp_path / "y.jsonl"
        trees.write_text("(S (S-SBJ (A a)\n  (A b)) (A c))\n\n(S (A c) (S (A b) (A b)))\n")
        data.write_text('{"id": "one", "words": ["a", "b"], "entities": [[0, 1, "S"]]}\n')
        seen = []

        def watch(items: Watched[T], /) -> Iterable[T]:
            seen.append(items.bytes_total)
            return items

        plain = ReadSettings(drop_functions=True)
        found = audit(MODEL, [trees, data], top=None, settings=plain, watch=watch)
        assert seen == [trees.stat().st_size, data.stat().st_size]
        assert (found.sentences, found.words) == (3, 8)
        assert found.unknown == {}
        places = {(Path(one.path).name, one.line, one.sentence.id) for one in found.findings}
        assert places <= {("x.ptb", 1, None), ("x.ptb", 4, None), ("y.jsonl", 1, "one")}
        assert len(places) > 1
        with_functions = audit(MODEL, [trees])
        assert [one.label for one in with_functions.unknown_labels] == ["S-SBJ"]

    def test_a_file_that_is_not_there_is_told_before_others_are_read(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken.ptb"
        broken.write_text("(S (A a)\n")
        with pytest.raises(DataError, match="there is no such file"):
            audit(MODEL, [broken, tmp_path / "no.ptb"])


def finding(text: str = "men saw dogs", *, layer: str = "tree") -> Finding:
    first = make_step(Span(1, 3, "VP"), 0.1, cursor=3, rather=(Span(0, 3), 0.5))
    second = make_step(Span(0, 1), 0.25, cursor=0, rather=(Span(0, 2, "NP"), 0.75))
    return Finding("x.ptb", 7, Sentence(tuple(text.split(" ")), id="s7"), layer, (first, second))


class TestWriting:
    def test_a_table_has_a_row_for_each_step(self, tmp_path: Path) -> None:
        write_findings([finding(), finding("a\tb c\nd e")], tmp_path / "x.tsv")
        header, *rows = (tmp_path / "x.tsv").read_text().splitlines()
        assert tuple(header.split("\t")) == COLUMNS
        cells = [dict(zip(COLUMNS, row.split("\t"), strict=True)) for row in rows]
        assert [row["rank"] for row in cells] == ["1", "1", "2", "2"]
        assert cells[0] == {
            "rank": "1",
            "path": "x.ptb",
            "line": "7",
            "id": "s7",
            "layer": "tree",
            "start": "1",
            "end": "3",
            "label": "VP",
            "text": "saw dogs",
            "probability": "0.1",
            "rather_boundary": "0",
            "rather_start": "0",
            "rather_end": "3",
            "rather_label": "",
            "rather_text": "men saw dogs",
            "rather_probability": "0.5",
            "sentence": "men saw dogs",
        }
        assert cells[2]["sentence"] == "a b c d e"

    def test_json_lines_have_an_object_for_each_finding(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl.gz"
        write_findings([finding(), finding("\ud800 b c")], path)
        one, other = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        assert one == json.loads(json.dumps(finding().to_dict()))
        assert (one["path"], one["line"], one["id"], one["layer"]) == ("x.ptb", 7, "s7", "tree")
        assert one["words"] == ["men", "saw", "dogs"]
        assert one["steps"][1]["rather"] == {
            "boundary": 2,
            "start": 0,
            "end": 2,
            "label": "NP",
            "text": "men saw",
            "probability": pytest.approx(0.75),
        }
        assert other["words"][0] == "\ud800"

    def test_label_studio_gets_a_task_with_the_gold_and_what_the_model_would_do(
        self, tmp_path: Path
    ) -> None:
        steps = (
            make_step(Span(2, 3, r"C\+\+"), 0.125, cursor=3, rather=(Span(1, 3, "B+D"), 0.5)),
            make_step(Span(0, 1), 0.25, cursor=0, rather=(Span(0, 2, r"\0"), 0.75)),
        )
        sentence = Sentence(("men", "saw", "dogs"), id="s7")
        gold = (Span(0, 2, "A"), Span(2, 3, "C++"))
        one = Finding("x.jsonl", 7, sentence, "entities", steps, gold)
        path = tmp_path / "x.json"
        write_findings([one, finding()], path)
        task, trees = json.loads(path.read_text())
        assert task["data"]["text"] == "men saw dogs"
        assert (task["data"]["file"], task["data"]["id"]) == ("x.jsonl:7", "s7")
        ours, model = task["predictions"]
        assert (ours["model_version"], ours["score"]) == ("annotation", pytest.approx(0.125))
        assert [(r["value"]["labels"], r.get("score")) for r in ours["result"]] == [
            (["A"], None),
            (["C++"], pytest.approx(0.125)),
        ]
        assert [(r["value"]["text"], r["value"]["labels"]) for r in model["result"]] == [
            ("saw dogs", ["B"]),
            ("saw dogs", ["D"]),
        ]
        assert [r["value"]["labels"] for r in trees["predictions"][0]["result"]] == [["VP"]]
        assert next(iter(fencepost.read(path, format="labelstudio"))).entities == gold

    def test_a_file_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        def broken() -> Iterator[Finding]:
            yield finding()
            raise RuntimeError

        (tmp_path / "x.tsv").write_text("as it was")
        with pytest.raises(RuntimeError):
            write_findings(broken(), tmp_path / "x.tsv")
        assert [path.name for path in tmp_path.iterdir()] == ["x.tsv"]
        assert (tmp_path / "x.tsv").read_text() == "as it was"

    @pytest.mark.parametrize("name", ["x.txt", "x", "-", "tsv", "x.gz"])
    def test_the_name_has_to_tell_the_form(self, name: str) -> None:
        with pytest.raises(ConfigError, match=r"written to \.tsv, \.jsonl, \.json"):
            write_findings([], name)


class TestTelling:
    def test_a_finding_is_told_with_its_sentence(self) -> None:
        assert _told_finding(finding()) == (
            'x.ptb:7  s7  0.1  VP "saw dogs"  rather: points to 0, no bracket "men saw dogs" (0.5)'
            "  +1 more\n    men [saw dogs]"
        )

    def test_where_the_gold_has_nothing_what_the_model_would_make_is_marked(self) -> None:
        one = finding("men saw dogs .", layer="entities")
        step = Finding(one.path, one.line, Sentence(one.sentence.words), one.layer, one.steps[1:])
        assert _told_finding(step) == (
            'x.ptb:7  0.25  no entity "men"  rather: points to 2, NP "men saw" (0.75)\n'
            "    [men saw] dogs ."
        )
        gap = make_step(Span(1, 2), 0.25, cursor=1, rather=(Span(1, 3), 0.5))
        step = Finding("x", 1, one.sentence, "entities", (gap,))
        assert _told_finding(step).endswith("\n    men [saw] dogs .")

    def test_text_is_told_on_one_line(self) -> None:
        sentence = Sentence.from_whitespace(["men", "saw\u00a0a\n", "dog"], [" ", "\t", ""])
        one = Finding("x", 1, sentence, "tree", finding().steps[:1])
        assert _told_finding(one).splitlines()[1] == "    men [saw a dog]"

    def test_many_unknown_labels_are_only_counted(self) -> None:
        found = Audit(sentences=1, words=2)
        found.steps["tree"] = 1_234
        found.doubted["tree"] = 5
        assert _told_counts(found) == (
            "1 sentence, 2 words\ntree: 1,234 steps; the model would take 5 others"
        )
        found.doubted["tree"] = 1
        assert _told_counts(found).endswith("; the model would take 1 other")
        for number in range(12):
            found.unknown["tree", str(number)] = Unknown("tree", str(number), "x", number, 1)
        lines = _told_counts(found).splitlines()
        assert lines[2] == "not judged: 12 labels that the model does not know"
        assert lines[3] == "  tree 0: 1 span, first x:0"
        assert lines[-1] == "  ... and 2 more"
        assert len(lines) == 14


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(MODEL, folder)
    return folder


Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(command)

    def invoke(*arguments: str | Path) -> Result:
        done = CliRunner().invoke(app, ["--threads", "1", *map(str, arguments)])
        if done.exception and not isinstance(done.exception, FencepostError | SystemExit):
            raise done.exception
        return done

    return invoke


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    lines = [
        {"words": parse.words, "entities": [list(span) for span in parse.entities or ()]}
        for parse in SOME
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


class TestCommand:
    def test_prints_the_least_likely_first(self, run: Run, folder: Path, source: Path) -> None:
        done = run("-m", folder, source, "--top", 3)
        assert (done.exit_code, done.stderr) == (0, "")
        *told, counts = done.stdout.rstrip("\n").split("\n\n")
        assert told == list(map(_told_finding, audit(MODEL, [source], top=3).findings))
        assert len(told) == 3
        assert counts.startswith("6 sentences, 17 words\nentities: ")

    def test_prints_json(self, run: Run, folder: Path, source: Path) -> None:
        done = run("-m", folder, source, source, "--json")
        data = json.loads(done.stdout)
        assert data == json.loads(json.dumps(audit(load_model(folder), [source, source]).to_dict()))
        assert data["sentences"] == 12
        assert set(data["layers"]) == {"entities"}

    def test_writes_a_file_instead(
        self, run: Run, folder: Path, source: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "doubts.jsonl"
        done = run("-m", folder, source, "-o", out)
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr.startswith("6 sentences, 17 words\n")
        assert len(out.read_text().splitlines()) == len(audit(MODEL, [source]).findings)
        done = run("-m", folder, source, "-o", tmp_path / "x.tsv", "-q")
        assert (done.stdout, done.stderr) == ("", "")
        assert (tmp_path / "x.tsv").exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--out", "x.txt"), "x.txt: findings are written to .tsv, .jsonl, .json"),
            (("--out", "x.tsv", "--json"), "one of them, not both"),
            (("--task", "tree"), "no sentence has the layer 'tree' that the model has a head for"),
        ],
    )
    def test_what_cannot_be_done_is_told(
        self, run: Run, folder: Path, source: Path, options: tuple[str, ...], message: str
    ) -> None:
        done = run("-m", folder, source, *options)
        assert isinstance(done.exception, FencepostError)
        assert message in str(done.exception)
        assert done.stdout == ""

    def test_a_file_without_a_layer_is_told(self, run: Run, folder: Path, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"words": ["a"]}\n')
        done = run("-m", folder, path)
        assert str(done.exception) == (
            f"{path}: no sentence has a layer that the model has a head for (tree, entities, tags)"
        )

    def test_numbers_out_of_range_and_missing_arguments_leave_with_status_2(
        self, run: Run, folder: Path, source: Path
    ) -> None:
        assert run("-m", folder, source, "--top", 0).exit_code == 2
        assert run("-m", folder).exit_code == 2
        assert run("-m", folder, source, "--task", "tags").exit_code == 2

    def test_function_labels_are_dropped_or_kept(
        self, run: Run, folder: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (S-SBJ (A a) (-NONE- *)) (A c))\n")
        assert "not judged" not in run("-m", folder, path).stdout
        assert "\n  tree S-SBJ: 1 span, first" in run("-m", folder, path, "--keep-functions").stdout


@cache
def shipped() -> fencepost.Parser:
    return fencepost.load(threads=1)


class TestUsefulness:
    TREES = (
        "(ROOT (S (NP (DT The) (NN ferry)) (VP (VBD left) (NP (DT the) (NN harbour)) "
        "(PP (IN at) (NP (NN dawn)))) (. .)))",
        "(ROOT (S (NP (DT A) (NN gull)) (VP (VBD followed) (NP (PRP it))) (. .)))",
        "(ROOT (S (NP (DT The) (NN captain)) (VP (VBD drank) (NP (NP (DT a) (NN cup)) "
        "(PP (IN of) (NP (NN tea))))) (. .)))",
        "(ROOT (S (NP (PRP She)) (VP (VBD knew) (NP (DT every) (NN rock))) (. .)))",
        "(ROOT (S (NP (DT The) (NNS passengers)) (VP (VBD slept) (PP (IN on) (NP (DT the) "
        "(NN deck)))) (. .)))",
    )

    def audited(self, trees: Iterable[str]) -> Audit:
        parses = [Parse(tree.sentence, tree) for tree in map(Tree.from_brackets, trees)]
        return audit_parses(shipped().model, placed(parses))

    def test_good_trees_leave_the_shipped_model_without_a_doubt(self) -> None:
        assert all(one.steps[0].probability > 0.1 for one in self.audited(self.TREES).findings)

    def test_a_wrong_label_and_a_wrong_attachment_come_first_and_would_be_mended(self) -> None:
        trees = list(self.TREES)
        trees[2] = trees[2].replace(
            "(NP (NP (DT a) (NN cup)) (PP (IN of) (NP (NN tea))))",
            "(NP (DT a) (NN cup)) (PP (IN of) (NP (NN tea)))",
        )
        trees[4] = trees[4].replace("(NP (DT the) (NN deck))", "(ADVP (DT the) (NN deck))")
        found = self.audited(trees)
        assert [one.line for one in found.findings[:2]] == [5, 3]
        label, attachment = (one.steps[0] for one in found.findings[:2])
        assert (label.span.label, label.rather) == ("ADVP", Span(4, 6, "NP"))
        assert attachment.rather == Span(3, 7, "NP"), "a cup of tea"
        assert label.probability < attachment.probability < 0.1
        assert all(one.steps[0].probability > 0.1 for one in found.findings[2:])

    def test_a_wrong_type_and_a_missing_entity_come_first(self) -> None:
        some = [
            entities("The ferry left Bergen .", (0, 2, "object"), (3, 4, "place")),
            entities("The captain drank tea .", (0, 2, "person"), (3, 4, "plant")),
            entities("She waved .", (0, 1, "person")),
            entities("The old man slept ."),
        ]
        found = audit_parses(shipped().model, placed(some))
        assert {one.line for one in found.findings[:2]} == {2, 4}
        steps = {one.line: one.steps[0] for one in found.findings}
        assert steps[2].span == Span(3, 4, "plant")
        assert steps[4].rather == Span(0, 3, "person")
