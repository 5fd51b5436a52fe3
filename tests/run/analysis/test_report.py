"""An analysis counts what `score` counts, and its report is a page that needs nothing else."""

import io
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fencepost.cli import main
from fencepost.drawing.colours import PALETTES
from fencepost.errors import ConfigError, DataError, FencepostError
from fencepost.formats import ReadSettings
from fencepost.run.analysis.examples import mistakes_of
from fencepost.run.analysis.page import report, write_report
from fencepost.run.analysis.pictures import TITLES, picture
from fencepost.run.analysis.report import Analysis, analyse, names_of
from fencepost.run.score import score_entities, score_trees
from fencepost.scoring.parameters import COLLINS

GOLD = """\
(ROOT (S (NP-SBJ (PRP I)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))) (. .)))
(ROOT (S (NP (NN Rain)) (VP (VBD fell) (ADVP (RB down)))))
(ROOT (NP (DT The) (NN end) (. .)))
(ROOT (. !))
"""
PREDICTED = """\
(ROOT (S (NP (XX I)) (VP (XX saw) (NP (XX men)) (PP (XX with) (NP (XX dogs)))) (XX .)))
(ROOT (S (NP (XX Rain)) (VP (XX fell) (PRT (XX down)))))
(ROOT (FRAG (NP (XX The) (XX end)) (XX .)))
(ROOT (XX !))
"""
Files = tuple[str, str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def trees(tmp_path: Path) -> Files:
    return written(tmp_path, "gold.ptb", GOLD), written(tmp_path, "predicted.ptb", PREDICTED)


@pytest.fixture
def entities(tmp_path: Path) -> Files:
    gold = "Ann of Oslo slept\n0,3 person|2,3 place\n\nRain fell\n\n\n"
    predicted = "Ann of Oslo slept\n0,1 person|2,3 city\n\nRain fell\n0,1 thing\n\n"
    return written(tmp_path, "gold.data", gold), written(tmp_path, "predicted.data", predicted)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command: its status, standard output and standard error."""

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["fencepost", "analyse", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        return int(left.value.code or 0), out, err

    return command


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def page_of(analysis: Analysis) -> str:
    return "".join(report(analysis))


def drawn_mistakes(analysis: Analysis) -> str:
    """The part of the page with drawings, without the pictures, which take longer."""
    return "".join(
        part
        for layer in analysis.layers
        for system in layer.systems
        for part in mistakes_of(system, layer.layer)
    )


class TestTrees:
    def test_are_counted_as_score_counts_them(self, trees: Files, tmp_path: Path) -> None:
        gold, predicted = trees
        (layer,) = analyse(gold, [predicted]).layers
        (system,) = layer.systems
        # With the gold tags on both sides, since EVALB deletes punctuation by its tag.
        tagged = PREDICTED
        for word, tag in re.findall(r"\((\S+) ([^\s()]+)\)", GOLD):
            tagged = tagged.replace(f"(XX {tag})", f"({word} {tag})")
        # EVALB's parameters do not know this wrapper, which is left out of an analysis.
        parameters = replace(COLLINS, deleted=COLLINS.deleted | {"ROOT"})
        again = written(tmp_path, "tagged.ptb", tagged)
        totals = score_trees(gold, again, parameters=parameters).all
        scores = system.scores
        assert (totals.errors, totals.skipped) == (0, 1)
        assert scores.all.found == totals.matched > 0
        assert (scores.all.gold, scores.all.predicted) == (totals.gold, totals.predicted)
        assert (scores.all.precision, scores.all.recall) == (totals.precision, totals.recall)
        assert (scores.all.f1, scores.exact_match) == (totals.f1, totals.complete_match)

    def test_mistakes_have_reasons_kinds_and_examples(self, trees: Files) -> None:
        gold, predicted = trees
        (layer,) = analyse(gold, [predicted], examples=2).layers
        groups = {group.reason: group for group in layer.systems[0].mistakes}
        assert [(name, group.count) for name, group in groups.items()] == [
            ("attachment", 1),
            ("extra", 1),
        ]
        (kind,) = groups["attachment"].kinds
        assert (kind.name, kind.missing, kind.extra) == ("PP under VP, belongs to NP", 1, 0)
        (example,) = kind.examples
        assert (example.number, example.mistake.moved) == (1, ((3, 5, "PP"), (3, 5, "PP")))
        assert example.predicted is not None
        assert example.predicted.tags == example.gold.tags

    def test_short_sentences_are_shown_but_not_too_short_ones(self, tmp_path: Path) -> None:
        lines = ["(S (A a) (B b) (C c) (D d))", "(S (A a))", "(S (A a) (B b) (C c))", "(S (A a))"]
        gold = written(tmp_path, "g.ptb", "\n".join(lines) + "\n")
        predicted = written(tmp_path, "p.ptb", "\n".join(lines[:3]).replace("S", "X") + "\n\n")
        for examples, numbers in ((2, [3, 1]), (9, [3, 1, 2])):
            (layer,) = analyse(gold, [predicted], examples=examples).layers
            label, missing = layer.systems[0].mistakes
            assert [one.number for one in label.kinds[0].examples] == numbers
            assert [one.number for one in missing.kinds[0].examples] == [4]
        (layer,) = analyse(gold, [predicted], examples=0).layers
        assert layer.systems[0].mistakes[0].kinds[0].examples == ()

    @pytest.mark.parametrize("failed", ["", "(())", "(TOP )", "(S)", "  ", "(S (NP (-NONE- *)))"])
    def test_a_line_without_words_was_not_parsed(self, tmp_path: Path, failed: str) -> None:
        gold = written(tmp_path, "g.ptb", "(S (A a) (B b))\n(S (A a))\n")
        predicted = written(tmp_path, "p.ptb", f"{failed}\n(S (A a))\n")
        analysis = analyse(gold, [predicted])
        scores = analysis.layers[0].systems[0].scores
        assert (scores.unparsed, scores.all.gold, scores.all.found) == (1, 2, 1)
        assert "No tree was predicted." in drawn_mistakes(analysis)
        if not failed:
            assert "1 of 2 sentences could not be parsed" in page_of(analysis)

    def test_lines_may_also_be_empty_between_trees(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "(S (A a))\n\n(S (B b))\n\n")
        predicted = written(tmp_path, "p.ptb", "(S (A a))\n\n(S\n  (B b))\n")
        for one in (gold, predicted):
            assert analyse(gold, [one]).layers[0].systems[0].scores.exact == 2

    def test_a_failure_and_empty_lines_at_the_end_are_told_apart(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "(S (A a))\n(S (A b))\n(S (A c))\n")
        predicted = written(tmp_path, "p.ptb", "(S (A a))\n\n(S (A c))\n\n\n")
        scores = analyse(gold, [predicted]).layers[0].systems[0].scores
        assert (scores.unparsed, scores.exact) == (1, 2)

    def test_traces_functions_features_and_escapes_do_not_count(self, tmp_path: Path) -> None:
        gold = written(
            tmp_path, "g.ptb", "(S##x## (NP-SBJ (-LRB- -LRB-) (A a)) (VP (V b) (NP (-NONE- *))))\n"
        )
        tree = "(S (NP (-LRB- -LRB-) (A a)) (VP (V b)))"
        predicted = written(tmp_path, "p.jsonl", json.dumps({"tree": tree}) + "\n")
        lines = written(tmp_path, "p.ptb", f"{tree}\n")
        for system in analyse(gold, [predicted, lines], names=["a", "b"]).layers[0].systems:
            assert system.scores.exact_match == 100

    def test_a_bad_bracket_is_named(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "(S (A a))\n(S (A a) (B b))\n")
        for bad, told in (
            ("(S (A a) (X ))", "the bracket 'X' holds no word"),
            ("(S (A a)", "never closed"),
        ):
            predicted = written(tmp_path, "p.ptb", f"(S (A a))\n{bad}\n")
            with pytest.raises(DataError, match=rf"p\.ptb:2: .*{told}"):
                analyse(gold, [predicted])


class TestEntities:
    def test_are_counted_as_score_counts_them(self, entities: Files) -> None:
        (layer,) = analyse(entities[0], [entities[1]]).layers
        scores = layer.systems[0].scores
        score = score_entities(*entities).score
        assert scores.all == score.all
        assert (scores.by["length"], scores.by["label"]) == (score.lengths, score.types)
        assert str(layer.fingerprint) == str(score_entities(*entities).fingerprint)
        assert [(group.reason, group.kinds[0].name) for group in layer.systems[0].mistakes] == [
            ("label", "place → city"),
            ("boundary", "person: too short"),
            ("extra", "thing"),
        ]

    @pytest.mark.parametrize("policy", ["drop-span", "drop-sentence"])
    def test_those_that_cross_count_as_gold(self, tmp_path: Path, policy: str) -> None:
        gold = written(tmp_path, "g.data", "a b c\n0,2 X|1,3 Y\n\n")
        predicted = written(tmp_path, "p.data", "a b c\n0,2 X\n\n")
        settings = ReadSettings(on_crossing=policy)  # type: ignore[arg-type]
        scores = analyse(gold, [predicted], settings=settings).layers[0].systems[0].scores
        assert (scores.all.gold, scores.all.found) == (2, 1)
        with pytest.raises(DataError, match="cross"):
            analyse(gold, [predicted])


class TestFiles:
    def test_all_layers_in_common_are_analysed(self, tmp_path: Path) -> None:
        row = '{"tree": "(S (A a))", "entities": [[0, 1, "X"]]}\n'
        gold, predicted = (written(tmp_path, name, row) for name in ("g.jsonl", "p.jsonl"))
        assert [layer.layer for layer in analyse(gold, [predicted]).layers] == ["tree", "entities"]
        brackets = written(tmp_path, "p.ptb", "(S (A a))\n")
        (layer,) = analyse(gold, [predicted, brackets], names=["a", "b"]).layers
        assert layer.layer == "tree"
        (layer,) = analyse(gold, [predicted], layer="entities").layers
        assert layer.layer == "entities"

    def test_what_does_not_go_together_is_an_error_with_its_place(
        self, tmp_path: Path, trees: Files, entities: Files
    ) -> None:
        short = written(tmp_path, "short.ptb", "".join(PREDICTED.splitlines(True)[:2]))
        other = written(tmp_path, "other.ptb", PREDICTED.replace("Rain", "Snow"))
        more = written(tmp_path, "more.ptb", PREDICTED.replace("(XX Rain)", "(XX Rain) (XX Rain)"))
        longer = written(tmp_path, "longer.ptb", PREDICTED.replace("(XX !)", "(XX !) (XX !)"))
        for predicted, told in (
            (short, r"short\.ptb: this file ends after 2 sentences"),
            (other, r"other\.ptb:2: word 0 is 'Snow', where .* 'Rain' \(gold: .*gold\.ptb:2\)"),
            (more, r"more\.ptb:2: word 1 is 'Rain', where the gold file has 'fell'"),
            (longer, r"longer\.ptb:4: there are 2 words, where the gold file has 1"),
            (entities[1], r"predicted\.data"),
            (str(tmp_path / "none.ptb"), r"none\.ptb: there is no such file"),
            (str(tmp_path / "none.data"), r"none\.data: there is no such file"),
        ):
            with pytest.raises(DataError, match=told):
                analyse(trees[0], [predicted])
        with pytest.raises(DataError, match=r"gold\.ptb: this file ends after 4 sentences"):
            analyse(trees[0], [written(tmp_path, "long.ptb", PREDICTED * 2)])
        empty = written(tmp_path, "empty.ptb", "")
        with pytest.raises(DataError, match=r"empty\.ptb: there are no sentences in it"):
            analyse(empty, [empty])

    def test_a_layer_that_is_wanted_has_to_be_there(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.jsonl", '{"words": ["a"], "entities": []}\n')
        trees = written(tmp_path, "p.ptb", "(S (A a))\n")
        with pytest.raises(DataError, match="have no layer in common"):
            analyse(gold, [trees])
        with pytest.raises(DataError, match=r"g\.jsonl:1: this sentence has no tree"):
            analyse(gold, [trees], layer="tree")
        with pytest.raises(DataError, match=r"p\.ptb:1: this sentence has no entities layer"):
            analyse(gold, [trees], layer="entities")

    def test_a_folder_and_standard_input_can_be_read(
        self, trees: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        written(folder, "a.ptb", PREDICTED)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PREDICTED.encode())))
        (layer,) = analyse(trees[0], [str(folder), "-"], format="ptb", samples=10).layers
        assert [system.name for system in layer.systems] == ["folder", "standard input"]
        assert layer.systems[0].scores == layer.systems[1].scores
        with pytest.raises(ConfigError, match="only one"):
            analyse("-", ["-"], format="ptb")

    def test_names_tell_systems_apart(self) -> None:
        assert names_of(["x.ptb"], ["mine"]) == ["mine"]
        with pytest.raises(ConfigError, match="2 files were given and 1 names"):
            names_of(["x.ptb", "y.ptb"], ["mine"])
        for files, names in ((["x.ptb", "x.ptb"], []), (["x.ptb", "y.ptb"], ["a", "a"])):
            with pytest.raises(ConfigError, match="the same name"):
                names_of(files, names)


class _Reader(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.tags: set[str] = set()
        self.headings: list[str] = []
        self.alts: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += (
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")
        )
        if tag == "img":
            self.alts.append(dict(attrs).get("alt"))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        if tag not in ("meta", "img", "source", "path", "rect", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("path", "rect"):
            return
        assert self.open.pop() == tag


class TestReport:
    def test_it_is_well_formed_and_fetches_nothing(self, trees: Files, entities: Files) -> None:
        for gold, predicted in (trees, entities):
            text = page_of(analyse(gold, [predicted, gold], names=["a", "b"], samples=20))
            reader = _Reader()
            reader.feed(text)
            assert not reader.open
            assert "script" not in reader.tags
            assert all(one.startswith("data:image/svg+xml;base64,") for one in reader.addresses)
            assert len(reader.addresses) == 2 * len(TITLES["tree"])
            assert all(reader.alts)
            assert reader.headings[:3] == ["h1", "h2", "h3"]
            assert not re.search(r"@import|url\(", text)

    def test_what_is_wrong_is_marked_in_the_drawings(self, trees: Files, entities: Files) -> None:
        text = drawn_mistakes(analyse(trees[0], [trees[1]]))
        assert 'class="span wrong" data-start="2" data-end="5" data-label="NP"' in text
        assert text.count('class="span moved" data-start="3" data-end="5" data-label="PP"') == 2
        text = drawn_mistakes(analyse(entities[0], [entities[1]]))
        assert re.search(r'<mark class="span kind-\d wrong" data-start="0" data-end="3"', text)
        assert re.search(r'<mark class="span kind-\d wrong" data-start="0" data-end="1"', text)

    def test_everything_from_files_is_escaped(self, tmp_path: Path) -> None:
        bad = '<script>"&'
        rows = [
            json.dumps({"id": bad, "words": [bad, "b", "c"], "entities": [[0, n, f"{label}{bad}"]]})
            for n, label in ((2, "X"), (1, "X"), (2, "Y"))
        ]
        gold = written(tmp_path, "g.jsonl", f"{rows[0]}\n{rows[0]}\n")
        predicted = written(tmp_path, "p.jsonl", f"{rows[1]}\n{rows[2]}\n")
        text = page_of(analyse(gold, [predicted], names=[bad]))
        assert bad not in text
        assert "&lt;script&gt;&quot;&amp;" in text

    def test_no_mistakes_and_many_kinds_are_told(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "".join(f"(L{n} (A a))\n" for n in range(30)))
        predicted = written(tmp_path, "p.ptb", "(X (A a))\n" * 30)
        text = drawn_mistakes(analyse(gold, [predicted, gold], names=["a", "b"], samples=5))
        assert "<p>None.</p>" in text
        assert "; and 10 more kinds</p>" in text
        assert "L0 → X, once" in text

    def test_it_is_written_whole_or_not_at_all(
        self, trees: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        analysis = analyse(trees[0], [trees[1]])
        out = tmp_path / "report.html"
        write_report(analysis, out)
        assert out.read_text().startswith("<!DOCTYPE html>")
        before = out.read_text()
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(ImportError):
            write_report(analysis, out)
        assert out.read_text() == before
        assert {path.suffix for path in tmp_path.iterdir()} == {".html", ".ptb"}


class TestPictures:
    @pytest.mark.parametrize("by", TITLES["tree"])
    def test_the_same_analysis_gives_the_same_picture(self, trees: Files, by: str) -> None:
        (layer,) = analyse(trees[0], [trees[1], trees[0]], samples=5).layers
        one = picture(layer, by)
        assert one == picture(layer, by)
        assert one.startswith("<svg")
        assert picture(layer, by, theme="dark") != one
        assert "gold" in one

    def test_labels_that_fonts_lack_and_dollars_do_no_harm(self, tmp_path: Path) -> None:
        text = "(語 ($x$ (A a)) (\\frac$ (B b)) (<b> (C c)))\n"
        gold, other = (written(tmp_path, name, text) for name in ("g.ptb", "$語$.ptb"))
        (layer,) = analyse(gold, [other, gold], samples=5).layers
        drawn = picture(layer, "label")
        assert "語" in drawn
        assert "$x$" in drawn
        assert "&lt;b&gt;" in drawn

    @pytest.mark.parametrize("by", ["length", "label"])
    def test_the_legend_has_every_name(self, trees: Files, by: str) -> None:
        names = ["_first", "", "second"]
        (layer,) = analyse(trees[0], [trees[1]] * 3, names=names, samples=5).layers
        told = re.findall(r">([^<>\n]+)</text>", picture(layer, by))
        assert {"_first", "·", "second"} <= set(told)

    def test_a_point_for_few_spans_is_hollow(self, tmp_path: Path) -> None:
        counts = []
        for sentences in (29, 30):
            gold = written(tmp_path, "g.ptb", "(S (A a))\n" * sentences)
            (layer,) = analyse(gold, [gold]).layers
            drawn = picture(layer, "length", theme="dark")
            counts.append(drawn.count(PALETTES["dark"].paper))
        assert counts[0] == counts[1] + 1

    def test_only_the_most_frequent_labels_are_drawn(self, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "".join(f"(L{n:02} (A a))\n" for n in range(40)))
        (layer,) = analyse(gold, [gold]).layers
        drawn = picture(layer, "label")
        assert "L19" in drawn
        assert "L20" not in drawn


class TestCommand:
    def test_prints_a_summary_and_writes_nothing(
        self, run: Run, trees: Files, tmp_path: Path
    ) -> None:
        before = set(tmp_path.iterdir())
        status, out, err = run(*trees)
        assert status == 0
        assert "attachment" in out
        assert "PP under VP, belongs to NP 1" in out
        assert "gold data: 4 sentences" in out
        assert "-o report.html" in err
        assert set(tmp_path.iterdir()) == before
        assert run(*trees, "-q")[2] == ""

    def test_compares_systems(self, run: Run, trees: Files) -> None:
        gold, predicted = trees
        status, out, _ = run(gold, predicted, gold, "--name", "a", "--name", "b", "--samples", "99")
        assert status == 0
        assert re.search(r"\na - b +-\d+\.\d\d +-\d+\.\d\d to [+-]\d+\.\d\d +0\.", out)

    def test_tells_what_could_not_be_parsed(self, run: Run, tmp_path: Path) -> None:
        gold = written(tmp_path, "g.ptb", "(S (A a))\n(S (A a))\n")
        _, out, _ = run(gold, written(tmp_path, "p.ptb", "(S (A a))\n\n"))
        assert "p: 1 sentence could not be parsed; all of the gold spans are missing" in out

    def test_names_and_labels_stay_on_their_line(self, run: Run, tmp_path: Path) -> None:
        gold, odd, other = (
            written(
                tmp_path, f"{n}.jsonl", json.dumps({"words": ["a"], "entities": [[0, 1, name]]})
            )
            for n, name in enumerate(("X", "\x1b\n", "Y"))
        )
        status, out, _ = run(gold, odd, other, "--name", "a\n\x1bb", "--name", "")
        assert status == 0
        assert "\x1b" not in out
        assert "mistakes of a \ufffdb " in out
        assert "X → \ufffd  1" in out
        assert "mistakes of · " in out

    def test_prints_json_and_writes_the_report_if_told(
        self, run: Run, trees: Files, tmp_path: Path
    ) -> None:
        gold, predicted = trees
        report = tmp_path / "report.html"
        status, out, err = run(gold, predicted, gold, "--samples", "20", "--json", "-o", report)
        assert (status, err) == (0, f"report written to {report}\n")
        (layer,) = json.loads(out)["layers"]
        assert (layer["task"], layer["gold_data"]["sentences"]) == ("tree", 4)
        first, second = layer["systems"]
        assert (first["name"], first["file"]) == ("predicted", predicted)
        assert first["by"]["label"]["NP"]["gold"] == 6
        kind = first["mistakes"]["attachment"]["kinds"][0]
        assert kind["examples"][0]["missing"] == [[2, 5, "NP"]]
        assert second["f1"] == 100
        assert layer["comparisons"][0]["samples"] == 20
        assert report.read_text().endswith("</html>\n")
        assert run(gold, predicted, "--json")[2] == ""

    def test_refuses_what_cannot_be_written_before_reading(
        self, run: Run, trees: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gold, predicted = trees
        page = written(tmp_path, "x.html", "")
        folder = tmp_path / "folder.html"
        folder.mkdir()
        for arguments, told in (
            ((gold, predicted, "-o", "report.pdf"), "ends with .html"),
            ((gold, predicted, "-o", tmp_path / "no" / "x.html"), "cannot be written"),
            ((gold, page, "-o", page), "would be written over"),
            ((gold, "missing.ptb", "-o", folder), "cannot be written: is a folder"),
        ):
            status, _, err = run(*arguments)
            assert status == 2
            assert told in err
        with monkeypatch.context() as patched:
            patched.setattr(os, "access", lambda path, mode: False)
            status, _, err = run(gold, predicted, "-o", tmp_path / "report.html")
        assert status == 2
        assert "report.html: cannot be written: its folder is not open for writing" in err
        monkeypatch.setattr("fencepost.run.analysis.pictures.find_spec", lambda name: None)
        status, _, err = run(gold, predicted, "-o", tmp_path / "report.html")
        assert status == 2
        assert "pip install 'fencepost[train]'" in err

    def test_errors_are_text(self, run: Run, trees: Files) -> None:
        status, out, err = run(trees[0], trees[1], "--name", "a", "--name", "b")
        assert (status, out) == (2, "")
        assert err.startswith("fencepost: --name: ")
        assert issubclass(ConfigError, FencepostError)
