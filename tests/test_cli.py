"""Each command as a person would use it, with what it prints and the status it leaves with."""

import functools
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from fencepost.checkpoints.model import save_model
from fencepost.cli import main
from fencepost.cli.options import From, To, models
from fencepost.cli.progress import watcher
from fencepost.config import SearchSettings
from fencepost.drawing.widths import cells
from fencepost.formats import ReadSettings, read, write
from fencepost.formats.registry import FORMATS, READABLE
from fencepost.run.corpus.results import read_documents
from fencepost.run.progress import unwatched
from fencepost.run.sides import Sides
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.training import loop
from tests.eight import write_eight
from tests.models import lively_model
from tests.shared import SHARED, needs_shared_data
from tests.test_docs import COMMANDS

EXAMPLES = Path(__file__).parents[1] / "examples"
# To make all commands takes longer than to run most of them, and they are the same each time.
get_command = functools.cache(typer.main.get_command)
Run = Callable[..., tuple[int, str, str]]
Fails = Callable[..., None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: its status, standard output and standard error."""

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["fencepost", *map(str, arguments)])
        monkeypatch.setattr(typer.main, "get_command", get_command)
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        return int(left.value.code or 0), out, err

    return command


class TestSearch:
    def test_matches_are_json_lines_in_a_pipe(self, run: Run) -> None:
        status, out, _ = run("search", "NP=x < NNS", EXAMPLES / "garden.ptb", "--limit", "1")
        assert status == 0
        data = json.loads(out)
        assert data["names"]["x"]["text"] == data["text"]
        assert data["sentence"][data["start_char"] : data["end_char"]] == data["text"]

    def test_matches_stand_out_on_a_terminal(self, run: Run) -> None:
        status, out, _ = run(
            *("search", "NP=x < NNS", EXAMPLES / "garden.ptb", "--to", "pretty", "-C", "1")
        )
        assert status == 0
        assert "planted [NP roses] along the fence ." in out
        assert "    x = NP roses" in out
        assert "\n--\n" in out

    def test_trees_tags_and_words_can_be_brackets(self, run: Run) -> None:
        pattern = "NP|NN|NNS|roses"
        _, out, _ = run("search", pattern, EXAMPLES / "garden.ptb", "--to", "ptb", "--limit", "7")
        lines = out.splitlines()
        assert "(NN gardener)" in lines
        assert "(NNS roses)" in lines
        assert "(XX roses)" in lines

    def test_rows_have_a_column_for_names(self, run: Run) -> None:
        _, out, _ = run("search", "NP=x < NNS=y", EXAMPLES / "garden.ptb", "--to", "tsv")
        names, row, *_ = (line.split("\t") for line in out.splitlines())
        assert dict(zip(names, row, strict=True))["names"] == "x=roses y=roses"

    def test_they_are_counted(self, run: Run) -> None:
        assert run("search", "NP !< NP", EXAMPLES / "garden.ptb", "--count")[1].strip().isdigit()

    @pytest.mark.parametrize("form", ["pretty", "jsonl", "tsv", "ptb"])
    def test_no_match_is_told(self, run: Run, form: str) -> None:
        command = ("search", "QQ", EXAMPLES / "garden.ptb", "--to", form)
        status, _, err = run(*command)
        assert (status, err) == (0, "no match\n")
        assert run(*command, "-q")[2] == ""
        assert run("search", "NP", EXAMPLES / "garden.ptb", "--to", form)[2] == ""

    def test_a_file_in_the_place_of_the_pattern_is_told(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.ptb").write_text("(S (A a))")
        told = "note: a.ptb is a file, and is taken for the pattern, which comes first\n"
        assert run("search", "a.ptb", "a.ptb")[2] == f"{told}no match\n"
        assert run("search", "a.ptb", "a.ptb", "-q")[2] == ""

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["NP < (VP", "x"], "pattern: this ( is never closed\n  NP < (VP\n       ^"),
            (["NP", "x", "--count", "--to", "tsv"], "--count: leave out --to"),
            (["NP", "x", "--count", "-C", "1"], "--count: leave out --context"),
            (["NP", "x", "--to", "ptb", "-C", "1"], "--context: sentences around a match"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, run: Run, arguments: list[str], told: str
    ) -> None:
        status, _, err = run("search", *arguments)
        assert status == 2
        assert told in err

    def test_what_could_not_be_parsed_is_told(self, run: Run, lively: Path) -> None:
        status, _, err = run("search", "NP", "a b c d", "--max-words", "3", "-m", lively)
        assert status == 2
        assert "longer than 3" in err


def test_help_and_version_are_printed(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    assert "\n    fencepost score gold.ptb predicted.ptb\n" in out
    assert run("--version")[1].count(".") >= 2
    for command in COMMANDS:
        status, out, _ = run(command, "--help")
        assert status == 0
        assert f"\n    fencepost {command} " in out, "an example"


# Waits for the moment at which `main` has its handler, before which nothing can be done.
INTERRUPTED = """
from fencepost import cli
run = cli._run
cli._run = lambda: (print("begun", flush=True), run())
cli.main()
"""


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.3])
def test_ctrl_c_ends_a_command_without_a_word_while_modules_are_loaded(after: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, "parse", "-", "-m", "en-small"],
        stdin=subprocess.PIPE,  # stays open, so that it does not end by itself
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130


class TestGrammar:
    """All commands name their output, their model and their columns in the same way."""

    def test_summaries_fit_on_their_line(self, run: Run) -> None:
        _, out, _ = run("--help")
        summaries = out.partition("Commands:\n")[2].splitlines()
        assert len(summaries) == len(COMMANDS)
        for line in summaries:
            assert re.fullmatch(r"  [a-z-]+ +[A-Z][^.]+\.", line), line

    @pytest.mark.parametrize(
        ("option", "commands"),
        [
            (
                "--device",
                ("parse", "search", "evaluate", "calibrate", "audit", "serve", "finetune", "train"),
            ),
            (
                "-m, --model",
                (
                    *("parse", "search", "evaluate", "calibrate", "audit", "serve", "finetune"),
                    "export-web",
                ),
            ),
            (
                "-o, --out",
                (
                    *("parse", "draw", "convert", "merge", "prepare", "analyse", "audit"),
                    *("finetune", "train", "export-web"),
                ),
            ),
            (
                "--entity-columns",
                (
                    *("parse", "search", "draw", "convert", "merge", "score", "analyse", "trace"),
                    "inspect",
                    *("evaluate", "calibrate", "audit"),
                ),
            ),
        ],
    )
    def test_options_are_wherever_they_make_sense(
        self, run: Run, option: str, commands: Sequence[str]
    ) -> None:
        for command in commands:
            _, out, _ = run(command, "--help")
            assert f" {option} " in out, command
            assert "positional" not in out

    def test_help_fits_on_its_lines_and_has_examples(self, run: Run) -> None:
        for command in COMMANDS:
            _, out, _ = run(command, "--help")
            assert re.search(r"\n  Examples?:\n    .*fencepost ", out), command
            assert [line for line in out.splitlines() if len(line) > 80] == [], command

    def test_what_finetune_took_before_are_aliases(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        command = ("finetune", "nowhere.ptb", "-o", tmp_path / "new")
        _, _, err = run(*command, "--from", lively, "--format", "ptb")
        assert err.splitlines() == [
            f"note: write -m {lively}; the next release needs the option",
            "note: write --from ptb; the next release needs the option",
            "fencepost: nowhere.ptb: there is no such file",
        ]
        _, _, err = run(*command, "--from", lively, "-m", "en-small")
        assert err == f"fencepost: -m {lively} and en-small: one of them is expected, not two\n"

    def test_a_device_is_that_of_the_settings(self, run: Run, tmp_path: Path) -> None:
        garden, out = EXAMPLES / "garden.ptb", ("-o", tmp_path / "new")
        (tmp_path / "x.toml").write_text(
            f'[data]\ntrain = [{{path = "{garden}"}}]\nhold_out = 0.5\n[network]\n'
            'encoder = {kind = "words"}\n[heads.tree]\n[training]\n'
        )
        for command in (("train", tmp_path / "x.toml", *out), ("finetune", garden, *out)):
            assert "training.device: 'abacus'" in run(*command, "--device", "abacus")[2]

    def test_outputs_by_position_are_an_alias(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "x.ptb").write_text("(S (A a))\n")
        (tmp_path / "x.data").write_text("a\n0,1 X\n\n")
        files, out = (tmp_path / "x.ptb", tmp_path / "x.data"), tmp_path / "out.jsonl"
        for command, inputs in (("convert", files[:1]), ("merge", files)):
            status, _, err = run(command, *inputs, out)
            assert (status, out.is_file()) == (0, True)
            assert err.startswith(f"note: write -o {out}; ")
            out.unlink()
            assert run(command, *inputs, out, "-q") == (0, "", "")
            assert run(command, *inputs, out, "-o", out)[2] == (
                f"fencepost: {out} and -o {out}: one output is expected, not two\n"
            )
        _, _, err = run("prepare", "ptb", tmp_path)
        assert err == "fencepost: the splits are files: -o FOLDER\n"

    def test_without_an_output_it_is_standard_output(self, run: Run) -> None:
        status, out, _ = run("convert", EXAMPLES / "garden.ptb", "--to", "jsonl")
        assert (status, out.count("\n")) == (0, 3)

    def test_models_by_position_are_an_alias(self, run: Run, lively: Path, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        copy = ("-o", tmp_path / "copy")
        for command, options in (("evaluate", ()), ("audit", ()), ("calibrate", copy)):
            expected = run(command, data, "-m", lively, *options, "-q")
            assert expected[0] == 0
            shutil.rmtree(tmp_path / "copy", ignore_errors=True)
            status, out, err = run(command, lively, data, *options)
            assert (status, out) == expected[:2]
            assert err.startswith(f"note: write -m {lively}; ")
            shutil.rmtree(tmp_path / "copy", ignore_errors=True)
            assert run(command, lively, data, *options, "-q") == expected
        _, _, err = run("evaluate", data, data, "-m", lively)
        assert err.endswith("one file is expected, not two\n")

    def test_columns_of_entities_are_chosen_wherever_they_are_read(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.conll"
        path.write_text("Bo\tB-NP\tB-PER\nsat\tB-VP\tO\n")
        for command in ("parse", "trace", "inspect", "audit", "score"):
            arguments = [command, path, *([path] if command == "score" else [])]
            if command in ("parse", "audit"):
                arguments += ["-m", lively]
            told = "".join(run(*arguments)[1:])
            assert "--entity-columns=-1 for those behind it" in told
            told = "".join(run(*arguments, "--entity-columns=-1")[1:])
            assert "--entity-columns" not in told


class TestInterrupted:
    @pytest.fixture
    def fails(self, monkeypatch: pytest.MonkeyPatch) -> Fails:
        """Makes the next command do what is given."""

        def set_steps(*steps: Callable[[], object]) -> None:
            def app(**_: object) -> None:
                for step in steps:
                    step()

            monkeypatch.setattr("fencepost.cli.app.app", app)

        return set_steps

    def test_a_failure_that_comes_of_it_is_not_told(self, fails: Fails, run: Run) -> None:
        def passing_over() -> None:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)

        def failing() -> None:
            raise ImportError("cannot load module more than once per process")

        fails(passing_over, failing)
        assert run() == (130, "", "")
        fails(failing)
        with pytest.raises(ImportError):
            main()

    def test_it_is_heard_in_a_destructor_too(self, fails: Fails, run: Run) -> None:
        class Interrupting:
            def __del__(self) -> None:
                signal.raise_signal(signal.SIGINT)

        fails(Interrupting, lambda: time.sleep(10))
        assert run() == (130, "", "")

    def test_what_else_is_raised_in_a_destructor_is_told_as_ever(
        self, fails: Fails, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[object] = []

        class Failing:
            def __del__(self) -> None:
                raise ValueError("no")

        monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
        fails(Failing, lambda: sys.exit(0))
        assert run() == (0, "", "")
        assert told == [ValueError]

    def test_afterwards_it_is_what_it_was(self, run: Run) -> None:
        before = signal.getsignal(signal.SIGINT), sys.unraisablehook
        run("--version")
        assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before

    def test_who_does_not_want_to_hear_it_does_not(self, fails: Fails, run: Run) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            fails(lambda: signal.raise_signal(signal.SIGINT), lambda: sys.exit(0))
            assert run() == (0, "", "")
        finally:
            signal.signal(signal.SIGINT, before)


class TestConvert:
    def test_writes_a_file_and_says_how_much(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        assert run("convert", EXAMPLES / "garden.ptb", "-o", out) == (
            0,
            "",
            "3 sentences written\n",
        )
        assert len(list(read(out))) == 3
        assert run("convert", out, "-o", tmp_path / "x.ptb", "-q") == (0, "", "")

    def test_writes_to_standard_output(self, run: Run) -> None:
        status, out, _ = run("convert", EXAMPLES / "museum.data", "-o", "-", "--to", "conll")
        assert status == 0
        assert out.startswith("The\tB-person\tO\tO\n")
        assert "\nBergen\tI-person\tI-organization\tB-place\n" in out

    def test_maps_labels(self, run: Run, tmp_path: Path) -> None:
        source = tmp_path / "in.ptb"
        source.write_text("(S (NP (WP who)) (NP (NML (NN oat) (NN bran))) (HEAD (WDT which)))\n")
        options = (
            *("--rename", "HEAD=NP", "--relabel", "NP/WP=WHNP", "--relabel", "NP/WDT=WHNP"),
            *("--splice", "NML", "--rename-tag", "NN=N"),
        )
        _, out, _ = run("convert", source, "-o", "-", "--to", "ptb", "-q", *options)
        assert out == "(S (WHNP (WP who)) (NP (N oat) (N bran)) (WHNP (WDT which)))\n"

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--rename", "HEAD", "--rename: two names are expected, as in HEADING=NP, not 'HEAD'"),
            ("--rename-tag", "NN=", "--rename-tag: two names are expected, as in HEADING=NP"),
            ("--relabel", "NP=WHNP", "are expected, as in NP/WP=WHNP, not 'NP=WHNP'"),
        ],
    )
    def test_says_how_labels_are_mapped(
        self, run: Run, tmp_path: Path, option: str, value: str, message: str
    ) -> None:
        status, _, err = run("convert", EXAMPLES / "garden.ptb", "-o", "-", option, value)
        assert status == 2
        assert message in err

    def test_one_bad_line_among_a_thousand_is_one_clear_error(
        self, run: Run, tmp_path: Path
    ) -> None:
        lines = ["(S (A a))"] * 1_000
        lines[411] = "(S (A a)"
        source, out = tmp_path / "in.ptb", tmp_path / "out.jsonl"
        source.write_text("\n".join(lines))
        assert run("convert", source, "-o", out) == (
            2,
            "",
            f"fencepost: {source}:412: this bracket is never closed\n",
        )
        assert [path.name for path in tmp_path.iterdir()] == ["in.ptb"]
        status, _, err = run("convert", source, "-o", out, "--skip-bad")
        assert (status, err) == (0, "999 sentences written\nleft out: 1 bad sentences\n")

    def test_brackets_can_be_indented(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "out.ptb"
        assert run("convert", EXAMPLES / "garden.ptb", "-o", out, "--indent", "2", "-q")[0] == 0
        assert out.read_text().startswith("(ROOT\n  (S\n    (NP ")
        assert list(read(out)) == list(read(EXAMPLES / "garden.ptb"))
        assert run("convert", EXAMPLES / "garden.ptb", "-o", out, "--indent", "0")[0] == 2

    def test_lays_out_for_reading(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        _, out, _ = run("convert", EXAMPLES / "garden.ptb", "-o", "-", "--to", "pretty")
        assert "│" in out
        assert "ROOT" in out.splitlines()[0]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "40")
        _, out, _ = run("convert", EXAMPLES / "garden.ptb", "-o", "-", "--to", "pretty")
        assert max(map(cells, out.splitlines())) <= 40

    def test_writes_pages_and_tables(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "out.html"
        assert run("convert", EXAMPLES / "garden.ptb", "-o", out) == (
            0,
            "",
            "3 sentences written\n",
        )
        assert out.read_text().count("fencepost-tree") >= 3
        status, table, _ = run("convert", EXAMPLES / "museum.data", "-o", "-", "--to", "tsv")
        assert (status, table.count("\n")) == (0, 1 + 8)
        assert table.startswith("sentence\tid\tstart\t")

    def test_asks_what_tsv_means(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "out.tsv"
        assert run("convert", EXAMPLES / "museum.data", "-o", out) == (
            2,
            "",
            f"fencepost: {out}: '.tsv' may be tsv (a table of entities) or conll (columns): name "
            "it with format= (--to)\n",
        )
        assert run("convert", EXAMPLES / "museum.data", "-o", out, "--to", "conll")[0] == 0
        assert [parse.entities for parse in read(out)] == [
            parse.entities for parse in read(EXAMPLES / "museum.data")
        ]

    def test_columns_are_numbers(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.conll"
        path.write_text("a\tX\tB-P\tB-Q\n")
        status, out, _ = run("convert", path, "-o", "-", "--to", "data", "--entity-columns", "3")
        assert (status, out) == (0, "a\n0,1 Q\n\n")
        status, _, err = run("convert", path, "-o", "-", "--to", "data", "--entity-columns", "x")
        assert status == 2
        assert "numbers are expected, as in 2,3, not 'x'" in err


class TestMerge:
    def test_joins_two_files(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "x.ptb").write_text("(S (A a))\n")
        (tmp_path / "x.data").write_text("a\n0,1 X\n\n")
        out = tmp_path / "both.jsonl"
        status, _, err = run("merge", tmp_path / "x.ptb", tmp_path / "x.data", "-o", out)
        assert (status, err) == (0, "1 sentence written\n")
        assert json.loads(out.read_text())["entities"] == [[0, 1, "X"]]

    def test_cannot_leave_sentences_out_of_one_file(self, run: Run, tmp_path: Path) -> None:
        status, _, err = run("merge", "a", "b", "-o", "c", "--on-crossing", "drop-sentence")
        assert status == 2
        assert "drop-span" in err


class TestPrepare:
    def test_prints_counts_and_notes(self, run: Run, tmp_path: Path) -> None:
        for section in range(2, 24):
            folder = tmp_path / f"wsj/{section:02}"
            folder.mkdir(parents=True)
            tree = "( (S (NP-SBJ (-NONE- *)) (VP (VB Go))) )\n"
            (folder / f"wsj_{section:02}01.mrg").write_text(tree)
        status, out, err = run("prepare", "ptb", tmp_path / "wsj", "-o", tmp_path / "out")
        assert status == 0
        assert out.splitlines()[0].split() == ["train", "dev", "test"]
        assert "note: dev has 1 sentences, where 1,700 are published" in err
        assert (tmp_path / "out/dev.ptb").read_text() == "(TOP (S (VP (VB Go))))\n"
        assert run("prepare", "ptb", tmp_path / "wsj", "-o", tmp_path / "out", "-q") == (0, "", "")

    def test_says_what_was_left_out(self, run: Run, tmp_path: Path) -> None:
        status, _, err = run("prepare", "ctb7", tmp_path, "-o", tmp_path / "out")
        assert status == 2
        assert "--train" in err
        (tmp_path / "chtb_0001.nw").write_text("( (IP (NN x)) )\n( (IP (-NONE- *)) )\n")
        (tmp_path / "chtb_0002.nw").write_text("( (IP (NN x)) )\n")
        (tmp_path / "chtb_0003.nw").write_text("( (IP (NN x)) )\n")
        lists = []
        for number, split in enumerate(("train", "dev", "test"), 1):
            (tmp_path / split).write_text(f"{number}\n")
            lists += [f"--{split}", tmp_path / split]
        status, out, _ = run("prepare", "ctb7", tmp_path, "-o", tmp_path / "out", *lists)
        assert status == 0
        assert out.splitlines()[-1].split() == ["left", "out:", "sentences", "1", "0", "0"]


class TestScore:
    GOLD, PREDICTED = EXAMPLES / "garden.ptb", EXAMPLES / "garden.predicted.ptb"

    def test_prints_a_table_and_the_fingerprint(self, run: Run) -> None:
        status, out, _ = run("score", self.GOLD, self.PREDICTED)
        assert status == 0
        assert ["F1", "96.97", "96.97"] in [line.split() for line in out.splitlines()]
        assert "gold data: 3 sentences, 21 words, " in out

    def test_prints_json(self, run: Run) -> None:
        _, out, _ = run("score", self.GOLD, self.PREDICTED, "--json")
        data = json.loads(out)
        assert (data["task"], round(data["f1"], 2)) == ("tree", 96.97)

    def test_maps_labels_of_both_files(self, run: Run, tmp_path: Path) -> None:
        gold, predicted = tmp_path / "gold.ptb", tmp_path / "predicted.ptb"
        gold.write_text("(S (HEAD-TTL (NML (NN oat) (NN bran))) (NP (WP who)))\n")
        predicted.write_text("(S (NP (NN oat) (NN bran)) (WHNP (WP who)))\n")
        options = ("--rename", "HEAD=NP", "--splice", "NML", "--relabel", "NP/WP=WHNP")
        for suffix in ("ptb", "jsonl"):
            files = [tmp_path / f"{name}.{suffix}" for name in ("gold", "predicted")]
            if suffix == "jsonl":
                for path in files:
                    write(read(path.with_suffix(".ptb")), path)
            assert json.loads(run("score", *files, "--json")[1])["f1"] < 100
            assert json.loads(run("score", *files, "--json", *options)[1])["f1"] == 100

    def test_names_gold_data_as_analyse_and_evaluate_do(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "x.ptb").write_text("(ROOT (S (NP-SBJ (NN it)) (VP (VBD -LRB-)) (. .)))\n" * 2)
        (tmp_path / "x.jsonl").write_text(run("convert", tmp_path / "x.ptb", "--to", "jsonl")[1])
        for path in (tmp_path / "x.ptb", tmp_path / "x.jsonl"):
            names = {
                run(*command)[1].partition("gold data: ")[2].splitlines()[0]
                for command in (
                    ("score", path, path),
                    ("analyse", path, path),
                    ("evaluate", path, "-m", lively, "--task", "tree"),
                )
            }
            assert len(names) == 1

    def test_leaves_a_wrapper_out_as_analyse_does(self, run: Run, tmp_path: Path) -> None:
        gold, predicted = tmp_path / "gold.ptb", tmp_path / "predicted.ptb"
        gold.write_text("( (S (NP (A a)) (B b)))\n")
        predicted.write_text("(ROOT (S (A a) (B b)))\n")
        rule = "a wrapper at the top (ROOT, TOP, S1, VROOT or no label) is not counted\n"
        for command in ("score", "analyse"):
            _, out, _ = run(command, gold, predicted)
            assert rule in out
            assert "100.00" in out
            assert "66.67" in out
        data = json.loads(run("score", gold, predicted, "--json")[1])
        assert (data["gold"], data["predicted"], data["wrapper"]) == (2, 1, "left out")
        (tmp_path / "x.prm").write_text("LABELED 1\n")
        by_file = ("--prm", tmp_path / "x.prm")
        data = json.loads(run("score", gold, predicted, "--json", *by_file)[1])
        assert (data["gold"], data["predicted"], data["matched"]) == (3, 2, 1)
        assert data["wrapper"] == "by the parameters"
        _, out, _ = run("score", gold, predicted, *by_file)
        assert "a wrapper at the top is left to the parameters\n" in out

    def test_prints_entities(self, run: Run) -> None:
        path = EXAMPLES / "museum.data"
        _, out, _ = run("score", path, path)
        assert "all (micro)               100.00  100.00  100.00     8          8        8" in out

    def test_scores_each_layer_that_both_files_have(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"tree": "(S (A a))", "entities": [[0, 1, "X"]]}\n')
        _, out, _ = run("score", path, path, "--json")
        assert [json.loads(line)["task"] for line in out.splitlines()] == ["tree", "entities"]
        _, out, _ = run("score", path, path)
        assert "\n\nentities " in out
        _, out, _ = run("score", path, path, "--task", "entities", "--json")
        assert json.loads(out)["f1"] == 100
        status, _, err = run("score", self.GOLD, EXAMPLES / "museum.data")
        assert status == 2
        assert "no layer in common" in err

    @needs_shared_data
    def test_prints_what_evalb_prints_to_the_byte(self, run: Run) -> None:
        folder = SHARED / "evalb"
        assert run("score", folder / "gold.ptb", folder / "pred.ptb", "--to", "evalb") == (
            0,
            (folder / "expected.txt").read_text(),
            (folder / "expected.stderr.txt").read_text(),
        )

    def test_leaves_like_evalb_after_too_many_errors(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "g.ptb").write_text("(S (A a))\n" * 20)
        (tmp_path / "p.ptb").write_text("(S (A b))\n" * 20)
        (tmp_path / "x.prm").write_text("MAX_ERROR 3\nLABELED 1\n")
        files = tmp_path / "g.ptb", tmp_path / "p.ptb"
        status, out, err = run("score", *files, "--to", "evalb")
        assert (status, len(err.splitlines())) == (1, 12)
        assert "Summary" not in out
        _, _, err = run("score", *files, "--to", "evalb", "--prm", tmp_path / "x.prm")
        assert len(err.splitlines()) == 5

    def test_evalb_knows_no_json(self, run: Run) -> None:
        status, _, err = run("score", self.GOLD, self.PREDICTED, "--to", "evalb", "--json")
        assert status == 2
        assert "no JSON" in err

    def test_standard_input_can_be_scored(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        with self.PREDICTED.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            status, out, _ = run("score", self.GOLD, "-", "--from", "ptb", "--json")
        assert status == 0
        assert round(json.loads(out)["f1"], 2) == 96.97


class TestTrace:
    def test_prints_steps(self, run: Run) -> None:
        status, out, _ = run("trace", EXAMPLES / "garden.ptb", "--limit", "1")
        assert status == 0
        assert out.startswith("# tree of 9 words in 10 steps\n0 The 1 old 2 gardener 3 ")
        assert out.count("\n") == 13

    def test_prints_both_layers(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"tree": "(S (A a))", "entities": []}\n')
        assert run("trace", path)[1].count("# ") == 2
        assert run("trace", path, "--task", "tree")[1].count("# ") == 1


class TestInspect:
    def test_tells_what_is_there(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (S (NP (A a) (B b)) (NP (C c))))\n" * 2)
        status, out, _ = run("inspect", path)
        assert status == 0
        assert "2 sentences, 6 words, 3.0 a sentence, at most 3; 1 repeated" in out
        assert "tree: 8 spans, 2 labels, depth 3.0 on average and 3 at most" in out
        assert "6 steps, 1.00 a word" in out
        assert "several labels on the same words: 2 places, S+S 2" in out
        assert out.endswith("No problems found.\n")

    def test_a_note_is_no_problem(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (NP (A a)))\n(S (A b))\n")
        status, out, _ = run("inspect", path)
        assert status == 0
        assert "No problems found." in out
        assert out.endswith(
            f"label seen once: 1 note\n  {path}:1: the tree label 'NP' is seen only once\n"
        )
        status, out, _ = run("inspect", path, "--json")
        assert (status, json.loads(out)["problems"]) == (0, [])
        assert json.loads(out)["notes"][0]["kind"] == "label seen once"

    def test_leaves_with_status_1_if_there_are_problems(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.data"
        path.write_text("a b c\n0,2 X|1,3 X|0,3 X\n\n" + "d\n0,9 X\n\n" * 12)
        status, out, _ = run("inspect", path)
        assert status == 1
        assert "left out: 1 crossing entities" in out
        assert "out of range: 12 problems\n" in out
        assert "... and 2 more" in out

    def test_tells_of_empty_files(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("")
        status, out, _ = run("inspect", path)
        assert status == 1
        assert "there is no sentence here" in out

    def test_shortens_long_lists(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("".join(f"(L{k} (A a))\n(L{k} (A a))\n" for k in range(12)))
        assert "and 2 more" in run("inspect", path)[1]

    def test_prints_json(self, run: Run) -> None:
        _, out, _ = run("inspect", EXAMPLES / "garden.ptb", "--json")
        assert json.loads(out)["files"][0]["sentences"] == 3


CONFIG = """
[data]
train = [{{ path = "{data}" }}]
dev = [{{ path = "{data}" }}]
[network]
encoder = {{ kind = "words", word_width = 8 }}
lstm_layers = 1
lstm_hidden = 8
[heads]
tree = {{ mlp = 8, decoder = 8 }}
entities = {{ mlp = 8, decoder = 8 }}
tags = {{}}
[training]
epochs = 2
threads = 1
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings of a small run on `data.jsonl` beside them."""
    data = write_eight(tmp_path / "data.jsonl")
    (tmp_path / "config.toml").write_text(CONFIG.format(data=data))
    return tmp_path / "config.toml"


class TestTrain:
    def test_prints_a_line_an_epoch(self, run: Run, config: Path, tmp_path: Path) -> None:
        status, out, err = run("train", config, "--out", tmp_path / "run")
        assert (status, err) == (0, "")
        *epochs, where, use = out.splitlines()
        assert [line.split(":")[0] for line in epochs] == ["epoch 1", "epoch 2"]
        figures = epochs[1].split("dev ")[1].split(" (best)")[0]
        assert where == f"{tmp_path}/run/model: dev {figures} (epoch 2 of 2)"
        assert use == f'use it: fencepost parse "Some text." --model {tmp_path}/run/model'
        status, _, err = run("train", config, "--out", tmp_path / "run")
        assert status == 2
        assert "pass --resume to go on" in err
        again = run("train", config, "--out", tmp_path / "run", "--resume")
        assert again == (0, f"finished before; {where}\n{use}\n", "")

    def test_ctrl_c_says_how_to_go_on(
        self, run: Run, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("fencepost.run.training.train.draw_training", interrupted)
        status, _, err = run("train", config, "--out", tmp_path / "run")
        assert status == 130
        told = "fencepost: stopped; the same command with --resume "
        assert err == f"{told}goes on from the last checkpoint\n"
        monkeypatch.setattr("fencepost.run.training.train.prepare_training", interrupted)
        _, _, err = run("train", config, "--out", tmp_path / "other")
        assert err == f"{told}begins anew: no checkpoint yet\n"

    def test_ctrl_c_writes_a_checkpoint_first(
        self, run: Run, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        command = ["train", config, "--set", "training.batch_words=8", "-q", "-o"]
        run(*command, tmp_path / "whole")
        before = signal.getsignal(signal.SIGINT)

        def pressing(times: int) -> None:
            def pressed(*arguments: Any, **options: Any) -> Iterator[Any]:
                for number, step in enumerate(loop.train(*arguments, **options), 1):
                    for _ in range(times if number == 2 else 0):
                        signal.raise_signal(signal.SIGINT)
                    yield step

            monkeypatch.setattr("fencepost.run.training.train.train", pressed)

        pressing(2)
        status, _, err = run(*command, tmp_path / "at-once")
        assert status == 130
        assert not list((tmp_path / "at-once").glob("checkpoint-*"))
        pressing(1)
        status, _, err = run(*command, tmp_path / "run")
        assert status == 130
        assert err == (
            "fencepost: writing a checkpoint after this step; Ctrl-C again stops at once\n"
            "fencepost: stopped; the same command with --resume goes on from the last checkpoint\n"
        )
        assert [path.name for path in (tmp_path / "run").glob("checkpoint-*")] == [
            "checkpoint-00000002"
        ]
        assert signal.getsignal(signal.SIGINT) == before
        pressing(0)
        assert run(*command, tmp_path / "run", "--resume")[0] == 0
        ours, theirs = (
            (tmp_path / name / "model/weights.safetensors").read_bytes()
            for name in ("run", "whole")
        )
        assert ours == theirs

    def test_sums_up_seeds(self, run: Run, config: Path, tmp_path: Path) -> None:
        status, out, _ = run("train", config, "-o", tmp_path / "run", "--seeds", "2", "-q")
        assert status == 0
        rows = [line.split() for line in out.splitlines()]
        assert rows[0] == ["dev", "mean", "spread", "seed", "1", "seed", "2"]
        assert [row[0] for row in rows[1:4]] == ["tree", "entities", "tags"]
        assert re.match(rf"{tmp_path}/run/seed-[12]/model: dev tree ", out.splitlines()[4])
        assert re.search(r"--model \S+/run/seed-[12]/model\n$", out)
        _, again, _ = run("train", config, "-o", tmp_path / "run", "--seeds", "2", "--resume")
        assert again == f"seed 1: finished before\nseed 2: finished before\n{out}"

    def test_prints_notes(self, run: Run, config: Path, tmp_path: Path) -> None:
        run("train", config, "--out", tmp_path / "run", "-q")
        text = config.read_text().replace("tags = {}\n", "")
        config.write_text(f'{text}init = "{tmp_path}/run/model"\n')
        _, _, err = run("train", config, "--out", tmp_path / "again")
        assert err == f"note: {tmp_path}/run/model: the head tags is left behind\n"

    def test_prints_a_line_a_minute_to_a_file(
        self, run: Run, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fencepost.cli.progress._MINUTE", 0.0)
        command = ["train", config, "--set", "training.batch_words=15", "--out"]
        status, out, err = run(*command, tmp_path / "run")
        assert status == 0
        assert out.count("\n") == 4
        first, *_, last = err.splitlines()
        assert re.fullmatch(
            r"epoch 1 of 2: \d+% done, loss [\d.]+, [\d,]+ words/s; \d+% of all, "
            r"\d+:\d\d hours left",
            first,
        )
        assert last.startswith("epoch 2 of 2: 100% done")
        assert last.endswith("100% of all, 0:00 hours left")
        assert run(*command, tmp_path / "quiet", "-q")[2] == ""

    def test_shows_a_bar_to_a_person(
        self,
        run: Run,
        config: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("fencepost.cli.progress._unseen", lambda quiet: quiet)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("FORCE_COLOR", "1")
        status, out, err = run("train", config, "--out", tmp_path / "run")
        assert status == 0
        assert out.count("\n") == 4
        assert "epoch 2, batch 1 of 1, loss " in err
        assert " words/s" in err
        status, out, err = run("evaluate", tmp_path / "data.jsonl", "-m", tmp_path / "run/model")
        assert status == 0
        assert "parsing" in err
        assert "parsing" not in out


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random model that finds some of everything."""
    folder = tmp_path_factory.mktemp("lively")
    save_model(lively_model("tree", "entities", "tags"), folder)
    return folder


class TestEvaluate:
    def test_prints_the_tables_of_score_and_tags(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        status, out, err = run("evaluate", data, "-m", lively, "--quiet")
        assert (status, err) == (0, "")
        firsts = [line.split()[0] for line in out.splitlines() if line]
        assert [name for name in firsts if name in ("trees", "entities", "tags")] == [
            "trees",
            "entities",
            "tags",
        ]
        assert "all (micro)" in out
        assert "tag accuracy" not in out, "gold tags would always be right"
        assert out.count("gold data: 8 sentences, 29 words") == 2

    def test_prints_json(self, run: Run, lively: Path, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        options = ("--json", "--beams", "2", "--unmasked")
        status, out, _ = run("evaluate", data, "-m", lively, *options)
        assert status == 0
        tree, entities = map(json.loads, out.splitlines())
        tags = tree["tags"]
        assert list(tree)[:4] == list(entities)[:4] == ["task", "precision", "recall", "f1"]
        assert list(tags)[:2] == ["task", "accuracy"]
        assert [data["task"] for data in (tree, entities, tags)] == ["tree", "entities", "tags"]
        _, out, _ = run("evaluate", data, "-m", lively, "--json", "--task", "tags")
        assert list(json.loads(out))[:2] == ["task", "accuracy"]

    def test_reads_gold_trees_as_training_does(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        gold = tmp_path / "gold.ptb"
        gold.write_text("(S (NP-SBJ (PRP It)) (VP (VBZ is) (NP (-NONE- *))))\n")
        prints = set()
        for options in ((), ("--keep-functions",)):
            _, out, _ = run("evaluate", gold, "-m", lively, "--task", "tree", "--json", *options)
            data = json.loads(out)["gold_data"]
            assert data["words"] == 2
            prints.add(data["sha256"])
        assert len(prints) == 2

    def test_labels_that_the_model_does_not_know_are_told(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        gold = tmp_path / "gold.data"
        labels = ["dish", "tool", *(f"L{number:02}" for number in range(12))]
        gold.write_text(
            "".join(f"a b c\n0,1 {label}|1,2 dish\n\n" for label in labels) + "a\n0,1 VP\n\n"
        )
        _, out, err = run("evaluate", gold, "-m", lively)
        first, second, *_, last = err.splitlines()
        assert first == "note: 14 labels that the model does not know"
        assert second == "  entities dish: 15 in the gold data"
        assert last == "  ... and 4 more"
        assert err.count("\n") == 12
        assert run("evaluate", gold, "-m", lively, "-q") == (0, out, "")
        trees = tmp_path / "gold.ptb"
        trees.write_text("(TOP (S (QQ (NN a)) (NP (NN b))))\n")
        _, _, err = run("evaluate", trees, "-m", lively, "--task", "tree")
        assert "tree QQ: 1" in err
        assert "TOP" not in err
        assert "tags" not in err

    def test_mappings_that_match_nothing_are_told(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        gold = tmp_path / "gold.ptb"
        gold.write_text("(S (NP-SBJ (NN a)) (VP (NN b)))\n")
        options = ["--splice", "QQ", "--rename", "NP=X", "--rename-tag", "Y=Z", "--splice", "X"]
        _, _, err = run("evaluate", gold, "-m", lively, *options)
        told = [
            f"note: --{one}: nothing in {gold} has it\n" for one in ("rename-tag Y", "splice QQ")
        ]
        assert err.startswith("".join(told))
        assert err.count("nothing in") == 2
        _, _, err = run("convert", gold, "--splice", "QQ", "--to", "ptb")
        assert err == f"1 sentence written\n{told[1]}"

    def test_maps_labels_of_gold_trees(self, run: Run, lively: Path, tmp_path: Path) -> None:
        gold, plain = tmp_path / "gold.ptb", tmp_path / "plain.ptb"
        gold.write_text("(S (HEAD-SBJ (PP It)) (VP (NML (VBZ is))))\n")
        plain.write_text("(S (NP (PRP It)) (VP (VBZ is)))\n")
        options = ("--rename", "HEAD=NP", "--rename-tag", "PP=PRP", "--splice", "NML")
        results = [
            run("evaluate", path, "-m", lively, "--json", *chosen)
            for path, chosen in ((gold, options), (plain, ()))
        ]
        assert results[0] == results[1]

    def test_counts_entities_that_cross(self, run: Run, lively: Path, tmp_path: Path) -> None:
        gold = tmp_path / "gold.data"
        gold.write_text("a b c\n0,2 X|1,3 X\n\n")
        for on_crossing in ("drop-span", "drop-sentence"):
            options = ("--on-crossing", on_crossing, "--json")
            _, out, _ = run("evaluate", gold, "-m", lively, *options)
            assert json.loads(out)["gold"] == 2
        assert run("evaluate", gold, "-m", lively)[0] == 2

    def test_needs_a_layer_in_common(self, run: Run, lively: Path, tmp_path: Path) -> None:
        gold = tmp_path / "gold.data"
        gold.write_text("a b\n\n\n")
        status, _, err = run("evaluate", gold, "-m", lively, "--task", "tree")
        assert status == 2
        assert "no sentence has the layer 'tree' that the model has a head for" in err


class TestParse:
    @pytest.fixture
    def parse(self, run: Run, lively: Path) -> Run:
        return lambda *arguments: run("parse", "--model", lively, *arguments)

    def test_prints_json_lines_into_a_pipe(self, parse: Run, tmp_path: Path) -> None:
        status, out, err = parse("The cat sat. It slept.", "A b.")
        assert (status, err) == (0, "")
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["text"] for row in rows] == ["The cat sat.", "It slept.", "A b."]
        told = {"version", "log_probs"}
        assert set(rows[0]) == {"words", "tags", "tree", "entities", "text", "offsets", *told}
        assert all(0 <= span[3] <= 1 for span in (*rows[0]["tree"], *rows[0]["entities"]))
        assert set(rows[0]["log_probs"]) == {"tree", "entities"}
        (tmp_path / "x.jsonl").write_text(out)
        assert len(list(read(tmp_path / "x.jsonl"))) == 3

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux")
    def test_writes_to_standard_output_and_devices_by_name(
        self, parse: Run, tmp_path: Path
    ) -> None:
        line = parse("The cat sat.")
        assert parse("The cat sat.", "-o", "/dev/stdout") == line
        assert parse("The cat sat.", "-o", "/dev/fd/1", "--to", "jsonl", "-q") == line
        status, _, err = parse("The cat sat.", "-o", "/dev/full", "--to", "jsonl")
        assert (status, err) == (
            2,
            "fencepost: /dev/full: cannot be written: No space left on device\n",
        )
        log = tmp_path / "log"
        log.write_text("before\n")
        with open(log, "a") as file:
            out = f"/dev/fd/{file.fileno()}"
            assert parse("The cat sat.", "-o", out, "--to", "jsonl", "-q") == (0, "", "")
        assert log.read_text() == f"before\n{line[1]}"

    @pytest.mark.parametrize(
        "tasks", [("tree",), ("tree", "tree"), ("tree", "tags"), ("tags", "tree")]
    )
    def test_prints_brackets_if_only_trees_are_asked_for(
        self, parse: Run, tasks: tuple[str, ...]
    ) -> None:
        status, out, _ = parse("The (cat) sat.", *(f"--task={task}" for task in tasks))
        assert status == 0
        assert out.count("\n") == 1
        assert "-LRB-" in out
        tree = Tree.from_brackets(out)
        assert tree.words == ("The", "(", "cat", ")", "sat", ".")
        assert "XX" not in tree.tags

    def test_prints_only_what_is_asked_for(self, parse: Run) -> None:
        for task in ("entities", "tags"):
            _, out, _ = parse("The cat sat.", "--task", task)
            told = {"log_probs"} if task == "entities" else set()
            assert set(json.loads(out)) == {"version", "words", task, "text", "offsets", *told}
        assert parse("The cat sat.", "--task", "nonsense")[0] == 2

    def test_lays_out_trees_and_entities_on_a_terminal(
        self, parse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        path = tmp_path / "x.txt"
        path.write_text("The cat sat. It slept.")
        status, out, err = parse(path)
        assert (status, err) == (0, "")
        first, second = out.split("\n\n")
        assert ["The", "cat", "sat", "."] in [line.split() for line in first.splitlines()]
        assert "│" in first
        assert "XX" not in out, "tags"
        assert "\nprobability of the tree 0." in second
        _, as_json, _ = parse(path, "--to", "jsonl")
        assert as_json.startswith("{")

    def test_words_with_blanks_can_be_shown(
        self, parse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        path = tmp_path / "x.jsonl"
        path.write_text('{"words": ["New York", "slept"]}')
        status, out, _ = parse(path, "--task", "tree")
        assert status == 0
        assert "New York" in out
        assert "(0, 2) " not in out

    def test_trees_fit_the_terminal(self, parse: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        text = "The cat sat on the mat and looked at a bird that sang in the garden of Ann."
        shown = {}
        for columns in (60, 400):
            monkeypatch.setenv("COLUMNS", str(columns))
            _, shown[columns], _ = parse(text, "--task", "tree")
            assert max(map(cells, shown[columns].splitlines()[:-1])) <= columns
        assert shown[60] != shown[400]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
        _, piped, _ = parse(text, "--task", "tree", "--to", "pretty")
        assert max(map(cells, piped.splitlines()[:-1])) <= 100

    def test_lays_out_into_a_pipe_if_asked_to(self, parse: Run) -> None:
        status, out, _ = parse("The cat sat.", "--to", "pretty")
        assert status == 0
        assert "\nprobability of the tree " in out

    def test_empty_text_is_no_error(self, parse: Run) -> None:
        assert parse("") == (0, "", "")
        assert parse(" ", "--to", "pretty") == (0, "", "")

    def test_writes_a_file_whole_or_not_at_all(self, parse: Run, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl.gz"
        assert parse("The cat sat.", "-o", out) == (0, "", "1 sentence written\n")
        assert [found.words for found in read(out)] == [("The", "cat", "sat", ".")]
        before = out.read_bytes()
        bad = tmp_path / "bad.txt"
        bad.write_bytes(b"One.\n\ncaf\xe9\n")
        status, _, err = parse(bad, "-o", out)
        assert status == 2
        assert err.startswith(f"fencepost: {bad}:3: not utf-8: byte 0xe9 at column 4")
        assert out.read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "out.jsonl.gz"]
        status, _, err = parse(bad, "-o", out, "--encoding", "latin-1")
        assert (status, err) == (0, "2 sentences written\n")
        assert parse("One. Two.", "-o", out, "--n-best=2")[2] == "2 sentences written\n"
        assert parse("One. Two.", "-o", out, "-q") == (0, "", "")
        status, _, err = parse(bad, "-o", tmp_path / "out.xyz")
        assert "the suffix '.xyz' does not tell the format" in err

    def test_layers_that_the_format_leaves_out_are_counted(
        self, parse: Run, tmp_path: Path
    ) -> None:
        found = parse("One. Two.", "-o", tmp_path / "out.xmi")
        told = "2 sentences written\nleft out: 2 tree layers that cas cannot say\n"
        assert found == (0, "", told)
        told = "2 sentences written\nleft out: 2 entities layers that ptb cannot say\n"
        assert parse("One. Two.", "-o", tmp_path / "out.ptb")[2] == told
        found = parse("One. Two.", "-o", tmp_path / "out.xmi", "--task=entities")
        assert found == (0, "", "2 sentences written\n")

    def test_fills_a_folder(self, parse: Run, tmp_path: Path) -> None:
        source, out = tmp_path / "in", tmp_path / "out"
        (source / "deep").mkdir(parents=True)
        (source / "a.txt").write_text("The cat sat. It slept.")
        (source / "deep/b.md").write_text("It ate.")
        (source / "deep/empty.txt").write_text("")
        status, told, err = parse(source, "A text.", "-o", f"{out}/")
        assert (status, err) == (0, "")
        assert told.startswith("rows         3\nsentences    4\nwords       13\n")
        assert "4 shards of " in told
        counts = {
            str(path.relative_to(out)): len(list(read(path))) for path in out.rglob("*.jsonl")
        }
        assert counts == {
            "a.jsonl": 2,
            "deep/b.jsonl": 1,
            "deep/empty.jsonl": 0,
            "text.jsonl": 1,
        }
        # A folder that is there needs no slash; brackets, if only trees are asked for.
        assert parse(source / "a.txt", "-o", out, "--task", "tree") == (0, "", "")
        assert len(list(read(out / "a.ptb"))) == 2
        assert parse(source / "a.txt", "-o", tmp_path / "pairs", "--to", "brat") == (0, "", "")
        assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["a.ann", "a.txt"]

    def test_fills_a_folder_inside_of_the_input(self, parse: Run, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("The cat sat.")
        for _ in range(2):
            assert parse(tmp_path, "-o", f"{tmp_path}/trees/", "--to", "ptb") == (0, "", "")
        assert [path.name for path in (tmp_path / "trees").iterdir()] == ["a.ptb"]
        (tmp_path / "trees/a.ptb").unlink()
        (tmp_path / "rows").mkdir()
        assert parse(tmp_path, "-o", tmp_path / "rows", "-q") == (0, "", "")
        names = sorted(path.name for path in (tmp_path / "rows").iterdir())
        assert names == ["_manifest.json", "a.jsonl"]

    def test_goes_on_with_a_corpus_only_when_told_to(self, parse: Run, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("The cat sat.")
        corpus = (tmp_path / "a.txt", "-o", tmp_path / "out", "--to", "jsonl")
        assert parse(*corpus)[0] == 0
        before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
        status, _, err = parse(*corpus)
        assert status == 2
        assert "out: this folder is not empty; pass --resume" in err
        status, told, _ = parse(*corpus, "--resume")
        assert status == 0
        assert "words a second" not in told  # nothing was left to do
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
        status, _, err = parse(*corpus, "--resume", "--min-probability", "0.5")
        assert status == 2
        assert "min_probability: 0.0 then, 0.5 now" in err

    @pytest.mark.parametrize("to", ["jsonl", "parquet"])
    def test_gives_a_row_for_each_row(self, parse: Run, tmp_path: Path, to: str) -> None:
        source = tmp_path / "in.jsonl"
        source.write_text(
            '{"id": 1, "body": "One. Two."}\nno JSON\n{"id": 3}\n\n{"id": "d", "body": ""}\n'
        )
        out = tmp_path / "out"
        status, told, err = parse(source, "-o", out, "--to", to, "--text-column", "body")
        assert (status, err) == (0, "")
        assert "not parsed  2\n  1 × no JSON: " in told
        found = list(read_documents(str(out)))
        assert [document.id for document in found] == ["1", "in.jsonl#31", "3", "d"]
        assert [document.is_ok for document in found] == [True, False, False, True]
        assert [len(document.sentences) for document in found] == [2, 0, 0, 0]
        assert found[2].status == "this row has no 'body', and no words"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("-o", "x.jsonl", "--resume"), "--resume is for a folder of JSON lines or Parquet"),
            (("--engine", "stream"), "-: a corpus is written to a folder"),
            (("-o", "x.parquet", "--to", "parquet"), "x.parquet: a corpus is written to a folder"),
            (("-o", "x/", "--engine", "ray", "--to", "ptb"), "writes jsonl or parquet, not ptb"),
            (("-o", "x/", "--n-best", "2"), "--n-best is for single sentences, not for a corpus"),
            (("-o", "x/", "--must", "0:1"), "--must is for single sentences"),
            (("-o", "x/", "--shard-size", "large"), "'large' is no number of bytes; 4MB"),
            (("-o", "x/", "--workers", "2"), "--workers and --gpus go with --engine ray"),
            (("-o", "x/", "--to", "tsv", "--resume"), "--resume is for a folder of JSON lines"),
        ],
    )
    def test_refuses_what_means_nothing_for_a_corpus(
        self,
        run: Run,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        arguments: tuple[str, ...],
        message: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        status, _, err = run("parse", "The cat sat.", *arguments, "--model", "nothing")
        assert status == 2
        assert message in err
        assert list(tmp_path.iterdir()) == []

    def test_parquet_that_cannot_be_written_leaves_no_folder(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
        out = tmp_path / "out"
        status, _, err = run("parse", "A.", "-o", f"{out}/", "--to", "parquet", "-m", "nothing")
        assert (status, "need pyarrow: pip install" in err) == (2, True)
        assert not out.exists()

    def test_ctrl_c_says_how_to_go_on_with_a_corpus(
        self, parse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("fencepost.run.corpus.run.parse_here", interrupted)
        status, _, err = parse("The cat sat.", "-o", f"{tmp_path}/out/")
        told = "fencepost: stopped; the same command with --resume goes on\n"
        assert (status, err) == (130, told)
        monkeypatch.undo()
        assert (tmp_path / "out/_work").exists()

    def test_standard_input_cannot_be_read_again(self, run: Run, tmp_path: Path) -> None:
        for more in (("--resume",), ("--engine", "ray")):
            status, _, err = run(
                "parse", "-", "-o", f"{tmp_path}/out/", *more, "--model", "nothing"
            )
            assert status == 2
            assert "standard input can be read only once" in err

    def test_refuses_what_would_be_written_twice_before_anything_else(
        self, run: Run, tmp_path: Path
    ) -> None:
        for name in ("a.txt", "a.md"):
            (tmp_path / name).write_text("The cat sat.")
        arguments = (tmp_path / "a.txt", tmp_path / "a.md", "-o", f"{tmp_path}/out/")
        status, _, err = run("parse", *arguments, "--model", "nothing")
        assert status == 2
        assert "would both be written to a.jsonl; parse them one after the other" in err
        status, _, err = run("parse", *arguments, "--to", "ptb", "--model", "nothing")
        assert status == 2
        assert "would both be written to this file" in err
        status, _, err = run("parse", tmp_path / "a.txt", "-o", tmp_path, "--to", "pretty")
        assert status == 2
        assert "this input would be written over" in err

    @pytest.mark.parametrize(
        ("source", "out"), [("a.txt", "a.ann"), ("a.txt", "a.txt"), ("a.ptb", "a.ptb")]
    )
    def test_refuses_to_write_over_its_input_before_anything_else(
        self, run: Run, tmp_path: Path, source: str, out: str
    ) -> None:
        (tmp_path / "a.txt").write_text("The  cat sat.")
        (tmp_path / "a.ptb").write_text("(S (A a))")
        before = {path.name: path.read_text() for path in tmp_path.iterdir()}
        to = ("--to", "pretty") if out == "a.txt" else ()
        arguments = (tmp_path / source, "-o", tmp_path / out, *to, "--model", "nothing")
        status, _, err = run("parse", *arguments)
        assert status == 2
        assert f"{source}: this input would be written over" in err
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before

    def test_what_a_folder_misses_is_told(self, parse: Run, tmp_path: Path) -> None:
        source, out = tmp_path / "in", tmp_path / "out"
        source.mkdir()
        (source / "a.txt").write_text("One. Two three four. Five.")
        (source / "b.txt").write_bytes(b"caf\xe9")
        (source / "c.txt").write_text("Six.")
        status, _, err = parse(source, "-o", f"{out}/", "--max-words", "3", "--to", "ptb")
        assert status == 2
        first, second = err.splitlines()
        assert first.startswith(f"fencepost: {source}/a.txt:1: a sentence of 4 words is longer")
        assert second.startswith(f"fencepost: {source}/b.txt:1: not utf-8: byte 0xe9")
        assert sorted(path.name for path in out.iterdir()) == ["a.ptb", "c.ptb"]

    def test_what_a_corpus_misses_is_in_its_rows(self, parse: Run, tmp_path: Path) -> None:
        source, out = tmp_path / "in", tmp_path / "out"
        source.mkdir()
        (source / "a.txt").write_text("One. Two three four. Five.")
        (source / "b.txt").write_bytes(b"caf\xe9")
        (source / "c.txt").write_text("Six.")
        status, told, err = parse(source, "-o", f"{out}/", "--max-words", "3")
        assert (status, err) == (0, "")
        assert "not parsed  2\n" in told
        assert "  1 × not utf-8: byte … at column …" in told
        assert "(--encoding) (b.txt#0)\n" in told
        found = list(read_documents(str(out)))
        assert [document.id for document in found] == ["a.txt#0", "b.txt#0", "c.txt#0"]
        assert found[0].status.startswith("a sentence of 4 words is longer than 3")
        assert found[1].status.startswith("not utf-8: byte 0xe9 at column 4")
        assert found[2].is_ok

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--to", "brat"), "brat cannot be written to standard output; name a file or a fol"),
            (("--to", "spacy"), "spacy cannot be written to standard output; name a file or a fo"),
            (("-o", "out.tsv"), "out.tsv: '.tsv' may be tsv (a table of entities) or conll"),
            (("-o", "o.parquet"), "o.parquet: Parquet is written to a folder of many files: -o"),
            (("-o", "x.svg"), "x.svg: fencepost draw makes pictures of annotated files; -o x.html"),
            (("-o", "x.json"), "x.json: '.json' may be labelstudio: name it with format= (--to)"),
            (("-o", "out.xyz"), "out.xyz: the suffix '.xyz' does not tell the format"),
            (("-o", "out"), "out: a folder that is not there yet ends with a slash, as in out/; "),
            (("-o", "nodir/x.spacy"), "nodir/x.spacy: cannot be written: No such file or dir"),
            (("-o", "nodir/x.jsonl"), "nodir/x.jsonl: cannot be written: No such file or dir"),
            (("-o", "x" * 300, "--to=ptb"), "x" * 300 + ": cannot be written: File name too long"),
            (("--to=tsv", "--task=tree"), "tsv says nothing of tree, only of entities; jsonl says"),
            (("-o", "o/", "--to=ptb", "--task=entities"), "ptb says nothing of entities, only of"),
            (("-o", "x.html", "--task=tags"), "html says nothing of tags, only of entities and"),
        ],
    )
    def test_refuses_what_cannot_be_written_before_anything_else(
        self, run: Run, arguments: tuple[str, ...], message: str
    ) -> None:
        status, out, err = run("parse", "The cat sat.", *arguments, "--model", "nothing")
        assert (status, out) == (2, "")
        assert err.startswith(f"fencepost: {message}")

    def test_writes_pages_and_tables(self, parse: Run, tmp_path: Path) -> None:
        status, page, _ = parse("The <cat> sat. It slept.", "--to", "html")
        assert status == 0
        assert page.startswith("<!DOCTYPE html>")
        assert page.rstrip().endswith("</html>")
        assert page.count('role="img"') == 2
        status, table, _ = parse("The cat sat.", "--to", "tsv")
        assert table.startswith("sentence\tid\t")
        rows = [line.split("\t") for line in table.splitlines()[1:]]
        assert all(0 <= float(row[-1]) <= 1 for row in rows)
        assert parse("The cat sat.", "-o", tmp_path / "x.htm", "-q") == (0, "", "")
        assert parse("The cat sat.", "-o", tmp_path / "named", "--to", "html")[0] == 0
        assert (tmp_path / "named").read_bytes() == (tmp_path / "x.htm").read_bytes()

    def test_reads_words_lines_and_formats(self, parse: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_text("It's one.\n\nTwo three.")

        def words(*options: str) -> list[list[str]]:
            status, out, _ = parse(path, "--task", "tags", *options)
            assert status == 0
            return [json.loads(line)["words"] for line in out.splitlines()]

        assert words("--words") == [["It's", "one."], ["Two", "three."]]
        assert words("--lines") == [["It", "'s", "one", "."], ["Two", "three", "."]]
        assert words() == words("--lines")
        path.write_text("(S (A It's) (B one.))")
        assert words("--from", "ptb") == [["It's", "one."]]
        status, _, err = parse(path, "--words", "--lines")
        assert (status, err) == (2, "fencepost: --words and --lines: one of them, not both\n")

    def test_reads_standard_input(self, parse: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Ann 's cat .\n")))
        status, out, _ = parse("-", "--words", "--task", "tree", "--to", "ptb")
        assert status == 0
        assert Tree.from_brackets(out).words == ("Ann", "'s", "cat", ".")

    def test_what_looks_like_a_path_is_not_taken_for_text(self, parse: Run) -> None:
        status, out, err = parse("nowhere.txt")
        assert (status, out) == (2, "")
        assert err == (
            "fencepost: nowhere.txt: there is no such file; pass --text if this is a text\n"
        )
        status, out, _ = parse("nowhere.txt", "--text")
        assert status == 0
        assert json.loads(out)["words"] == ["nowhere.txt"]

    def test_a_broken_line_is_told_with_its_place(self, parse: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"text": "One."}\n{"text": \n')
        status, _, err = parse(path)
        assert status == 2
        assert err.startswith(f"fencepost: {path}:2: no JSON: ")

    def test_what_could_not_be_parsed_is_told_at_the_end(self, parse: Run) -> None:
        status, out, err = parse("One. Two three four. Five.", "--max-words", "3", "--task", "tree")
        assert status == 2
        assert [len(Tree.from_brackets(line).words) for line in out.splitlines()] == [2, 2]
        assert err.startswith("fencepost: text:1: a sentence of 4 words is longer than 3; ")
        assert err.count("\n") == 1

    def test_the_same_message_of_several_inputs_is_told_once(
        self, parse: Run, tmp_path: Path
    ) -> None:
        for number in range(12):
            (tmp_path / f"{number:02}.txt").write_text("\nTwo three four.\n")
        (tmp_path / "x.txt").write_text("One two three four.\n")
        status, _, err = parse(tmp_path, "--max-words", "3", "--task", "tree")
        assert status == 2
        first, places, second = err.splitlines()
        assert first.startswith("fencepost: 12 times: a sentence of 4 words is longer than 3; ")
        told = ", ".join(f"{tmp_path}/{number:02}.txt:2" for number in range(10))
        assert places == f"  {told} and 2 more"
        assert second.startswith(f"fencepost: {tmp_path}/x.txt:1: a sentence of 5 words is ")

    def test_half_a_character_takes_nothing_else_down(self, parse: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"text": "one"}\n{"text": "a\\ud800"}\n{"text": "caf\\u00e9"}\n')
        status, out, err = parse(path)
        assert (status, err) == (0, "")
        assert [json.loads(line)["text"] for line in out.splitlines()] == ["one", "a\ud800", "café"]
        assert "café" in out

    def test_models_that_are_not_there_are_told(self, run: Run, tmp_path: Path) -> None:
        status, _, err = run("parse", "A b.", "--model", "nothing")
        assert status == 2
        assert err.startswith("fencepost: nothing: there is no such folder, no model of that name")
        save_model(lively_model("tree"), tmp_path / "model")
        status, out, err = run("parse", "A b.", "-m", tmp_path / "model", "--task", "entities")
        assert (status, out) == (2, "")
        assert err == "fencepost: this model has no head for 'entities'; it has tree\n"

    def test_shows_a_bar_to_a_person(
        self, parse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "x.txt"
        path.write_text("The cat sat.\n\nIt slept.\n")
        monkeypatch.setattr("fencepost.cli.progress._unseen", lambda quiet: quiet)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("FORCE_COLOR", "1")
        status, out, err = parse(path, "-o", tmp_path / "out.jsonl")
        assert (status, out) == (0, "")
        assert "x.txt 7 words" in err
        assert "100%" in err
        assert parse(path, "-o", tmp_path / "out.jsonl", "-q")[2] == ""
        assert parse("A text.", "-o", tmp_path / "out.jsonl")[2] == "1 sentence written\n"
        # Where the trees are printed it would only be in the way.
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert parse(path)[2] == ""

    def test_several_readings_are_ranked(self, parse: Run) -> None:
        status, out, _ = parse("The cat sat. It slept.", "--n-best", "3")
        assert status == 0
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["rank"] for row in rows] == [1, 2, 3] * 2
        assert [len(row["words"]) for row in rows] == [4] * 3 + [3] * 3
        totals = [sum(row["log_probs"].values()) for row in rows[:3]]
        assert totals == sorted(totals, reverse=True)

    def test_several_readings_are_told_by_their_differences(self, parse: Run) -> None:
        status, out, _ = parse("The cat sat.", "--n-best", "3", "--to", "pretty")
        assert status == 0
        assert out.startswith("reading 1 of 3\n")
        assert "\nreading 2, probability " in out
        assert "only in reading 3: " in out or "only in reading 1: " in out

    def test_a_format_of_one_layer_has_readings_of_this_layer(self, parse: Run) -> None:
        for to in ("ptb", "data"):
            status, out, _ = parse("The cat sat.", "--n-best", "3", "--to", to)
            parts = out.split("\n" if to == "ptb" else "\n\n")
            assert (status, len(set(filter(None, parts)))) == (0, 3)
        consistent = ("--consistent", "--n-best", "2", "--to", "ptb")
        assert parse("The cat sat.", *consistent)[0] == 0

    def test_a_reading_that_is_refused_is_told(self, parse: Run) -> None:
        status, out, err = parse("A b c d. E f.", "--n-best", "2", "--max-words", "4")
        assert status == 2
        assert len(out.splitlines()) == 2
        longer = "a sentence of 5 words is longer than 4"
        assert (
            err == f"fencepost: text:1: {longer}; a parser with a larger max_words would take it\n"
        )

    def test_promises_are_kept(self, parse: Run, tmp_path: Path) -> None:
        names = tmp_path / "names.tsv"
        names.write_text("cat sat\tS\n")
        arguments = ("--must=0:2:VP", "--forbid=2:4", "--root=NP", "--consistent", "--beam=2")
        status, out, err = parse("The cat sat still .", "--words", *arguments, "--text")
        assert (status, err) == (0, "")
        row = json.loads(out)
        assert [0, 2, "VP"] in [span[:3] for span in row["tree"]]
        assert [2, 4] not in [span[:2] for span in row["tree"]]
        assert row["tree"][0][2] == "NP"
        status, out, _ = parse("The cat sat.", "--gazetteer", names, "--label=S")
        row = json.loads(out)
        assert [1, 3, "S"] in [span[:3] for span in row["entities"]]
        assert {span[2] for span in row["tree"]} == {"S"}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--must=0:3", "--must=2:4:VP"), "must (0, 3) and must (2, 4) VP cross"),
            (("--must=x:3",), "'x:3' is no span; START:END or START:END:LABEL is"),
            (("--forbid=1",), "'1' is no span"),
            (("--root=Q",), "the model has no label 'Q' for tree or entities"),
            (("--beam=0",), "beams: a whole number from 1 to 1000, not 0"),
            (("--beam=1000000000",), "beams: a whole number from 1 to 1000, not 1000000000"),
            (("--n-best=1000000",), "n_best: a whole number from 1 to 1000, not 1000000"),
            (("--gazetteer=nowhere.tsv",), "nowhere.tsv: cannot be read"),
            (("--precision=int8",), "int8 is for the linear layers of a transformer"),
        ],
    )
    def test_what_cannot_be_is_refused(
        self, parse: Run, arguments: tuple[str, ...], message: str
    ) -> None:
        status, out, err = parse("The cat sat.", *arguments)
        assert (status, out) == (2, "")
        assert message in err

    def test_promises_with_places_are_for_one_sentence(self, parse: Run) -> None:
        status, out, err = parse("The cat sat. It slept.", "--must=0:2")
        assert (status, out) == (2, "")
        assert "of one sentence, and there are several" in err

    def test_improbable_entities_are_left_out(self, parse: Run) -> None:
        _, out, _ = parse("The cat sat on it.")
        _, fewer, _ = parse("The cat sat on it.", "--min-probability=1")
        assert len(json.loads(fewer)["entities"]) < len(json.loads(out)["entities"])

    def test_steps_are_explained(self, parse: Run) -> None:
        status, out, _ = parse("The cat sat.", "--explain")
        assert status == 0
        first, second = out.split("\n\n")
        assert first.splitlines()[0].startswith("# tree, ")
        assert first.splitlines()[1] == "0 The 1 cat 2 sat 3 . 4"
        assert second.startswith("# entities, ")
        assert first.splitlines()[2].split() == (
            ["step", "cursor", "points", "to", "of", "completes", "label", "or", "probability"]
        )
        steps = [line.split() for line in first.splitlines()[3:]]
        assert [int(step[0]) for step in steps] == list(range(1, len(steps) + 1))
        assert "(0, 4)" in first.splitlines()[-1]

    @pytest.mark.parametrize(
        "option",
        [
            *(("--beam", "1"), ("--n-best", "2"), ("--to", "ptb"), ("-o", "x.ptb")),
            *(("--least-certain", "1"), ("--min-probability", "0.5"), ("--names",)),
        ],
    )
    def test_steps_are_not_explained_with_what_would_be_ignored(
        self, parse: Run, option: tuple[str, ...]
    ) -> None:
        status, out, err = parse("The cat sat.", "--explain", *option)
        assert (status, out) == (2, "")
        assert f"{option[0].replace('-o', '--out')} does not go with --explain" in err

    def test_a_model_searches_as_wide_as_it_says(self, run: Run, tmp_path: Path) -> None:
        model = lively_model("tree", "entities", "tags")
        save_model(replace(model, search=SearchSettings(beams=4)), tmp_path / "wide")
        (tmp_path / "in.jsonl").write_text('{"text": "The cat sat on the mat."}\n')

        def found(*options: object) -> list[Any]:
            status, out, _ = run("parse", "-m", tmp_path / "wide", tmp_path / "in.jsonl", *options)
            assert status == 0
            return [json.loads(line) for line in out.splitlines()]

        assert found() == found("--beam", "4") != found("--beam", "1")
        for name, options, beams in (("own", (), 4), ("asked", ("--beam", "2"), 2)):
            run(
                *("parse", "-m", tmp_path / "wide", tmp_path / "in.jsonl", *options),
                *("-q", "--to", "jsonl", "-o", f"{tmp_path / name}/"),
            )
            record = json.loads((tmp_path / name / "_manifest.json").read_text())
            assert record["beams"] == beams

    @pytest.mark.parametrize("to", ["html", "pretty", "tsv", "conll", "data", "ptb"])
    def test_every_text_goes_through_a_pipe(
        self, parse: Run, monkeypatch: pytest.MonkeyPatch, to: str
    ) -> None:
        reading, writing = os.pipe()
        with open(reading) as reader, open(writing, "w") as writer, ThreadPoolExecutor(1) as pool:
            told = pool.submit(reader.read)
            monkeypatch.setattr(sys, "stdout", writer)
            status, _, err = parse("The cät sat.", "--to", to)
            writer.close()
            assert (status, err) == (0, "")
            assert to == "tsv" or "cät" in told.result()

    def test_standard_input_fills_a_folder(
        self, parse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat sat.")))
        assert parse("-", "-o", f"{tmp_path}/out/", "--to", "tsv") == (0, "", "")
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["stdin.tsv"]


class TestDraw:
    def test_draws_into_files_and_says_how_many(self, run: Run, tmp_path: Path) -> None:
        source = EXAMPLES / "garden.ptb"
        for name in ("x.pdf", "x.html", "out/"):
            assert run("draw", source, "-o", f"{tmp_path}/{name}") == (
                0,
                "",
                "3 drawings written\n",
            )
        for name in ("x.svg", "x.png"):
            arguments = ("--sentence", "2", "--boundaries", "--theme", "dark")
            assert run("draw", source, "-o", tmp_path / name, *arguments, "-q") == (0, "", "")
        assert len(list((tmp_path / "out").iterdir())) == 3
        assert (tmp_path / "x.svg").read_text().count('class="boundary"') == 6

    def test_an_argument_that_is_no_file_is_no_text_to_draw(self, run: Run) -> None:
        assert run("draw", "The cat sat.", "-o", "x.svg") == (
            2,
            "",
            "fencepost: The cat sat.: there is no such file; fencepost parse TEXT --to html draws "
            "a text\n",
        )

    def test_a_file_of_text_is_no_annotation(self, run: Run) -> None:
        source = EXAMPLES / "harbour.txt"
        assert run("draw", source, "-o", "x.svg") == (
            2,
            "",
            f"fencepost: {source}: a text is parsed first, and can be drawn at once: fencepost "
            f"parse {source} -o harbour.html\n",
        )
        status, _, err = run("draw", EXAMPLES / "demo.sh", "-o", "x.svg")
        assert status == 2
        assert "does not tell the format (known suffixes: .ptb, " in err
        assert ".html" not in err
        assert err.endswith("; name it with format= (--from)\n")

    def test_what_cannot_be_drawn_takes_nothing_else_down(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        deep = "(S (A a) " * 2000 + "(B b)" + ")" * 2000
        path.write_text(f"(S (A a))\n{deep}\n(S (A a))\n(S (A a)\n")
        arguments = ("draw", path, "-o", f"{tmp_path}/out/", "--to=png")
        status, _, err = run(*arguments, "--skip-bad")
        assert status == 2
        told, left_out, missed = err.splitlines()
        assert (told, left_out) == ("2 drawings written", "left out: 1 bad sentences")
        assert missed.startswith(f"fencepost: {path}: sentence 2, tree: a PNG of this sentence")
        assert len(list((tmp_path / "out").iterdir())) == 2
        status, _, err = run(*arguments, "--sentence=1", "--limit=1")
        assert (status, err) == (2, "fencepost: --sentence and --limit: one of them, not both\n")

    def test_draws_any_span_group(self, run: Run, tmp_path: Path) -> None:
        pytest.importorskip("spacy")
        parse = Parse(Sentence(("a", "b")), entities=(Span(0, 1, "X"),))
        write([parse], tmp_path / "x.spacy", span_group="mine")
        arguments = ("draw", tmp_path / "x.spacy", "-o", tmp_path / "x.svg", "-q")
        assert run(*arguments)[0] == 2
        assert run(*arguments, "--span-group", "mine") == (0, "", "")

    def test_one_drawing_is_one(self, run: Run, tmp_path: Path) -> None:
        status, _, err = run("draw", EXAMPLES / "garden.ptb", "-o", tmp_path / "x.svg")
        assert status == 2
        assert "choose one with --sentence N" in err
        assert list(tmp_path.iterdir()) == []

    def test_tells_what_was_left_out(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "x.data"
        path.write_text("a b c\n0,2 X|1,3 X\n\n")
        arguments = ("draw", path, "-o", tmp_path / "x.svg")
        assert run(*arguments)[0] == 2
        status, _, err = run(*arguments, "--on-crossing", "drop-span", "--task", "entities")
        assert (status, err) == (0, "1 drawing written\nleft out: 1 crossing entities\n")

    def test_reads_standard_input_and_writes_standard_output(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"(S (A a))\n")))
        status, out, _ = run("draw", "-", "--from", "ptb", "-o", "-")
        assert status == 0
        assert out.startswith("<svg ")

    def test_shows_a_bar_to_a_person(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fencepost.cli.progress._unseen", lambda quiet: quiet)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("FORCE_COLOR", "1")
        _, _, err = run("draw", EXAMPLES / "garden.ptb", "-o", tmp_path / "x.html")
        assert "garden.ptb" in err
        assert "100%" in err


class TestCompletion:
    def test_choices_are_the_formats_that_there_are(self) -> None:
        assert _choices(From) == {format.name for format in READABLE}
        assert _choices(To) == set(FORMATS)

    def test_models_go_on_to_those_that_ship_and_to_folders(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "runs/first").mkdir(parents=True)
        (tmp_path / "runs/.hidden").mkdir()
        (tmp_path / "runs.txt").write_text("")
        assert models("en-sm") == ["en-small"]
        assert models("ru") == ["runs/"]
        assert {"en-small", "runs/"} <= set(models(""))
        assert models("runs/") == ["runs/first/"]
        assert models("runs/.h") == ["runs/.hidden/"]
        assert models(f"{tmp_path}/runs/f") == [f"{tmp_path}/runs/first/"]
        assert models("nowhere/x") == []


def _choices(option: Any) -> set[str]:
    (literal, _) = get_args(get_args(option)[0])
    return set(get_args(literal))


@pytest.mark.slow
def test_programs_take_what_others_give(lively: Path, tmp_path: Path) -> None:
    def program(command: str, given: bytes) -> tuple[bytes, bytes]:
        """What a command says into one pipe, given something through another."""
        arguments = [sys.executable, "-m", "fencepost", *command.split()]
        done = subprocess.run(arguments, input=given, capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    rows, err = program(f"parse - -m {lively}", "The cät sat.\n\nIt slept.".encode())
    texts = [json.loads(row)["text"] for row in rows.splitlines()]
    assert (texts, err) == (["The cät sat.", "It slept."], b"")
    again, err = program("convert - - --from jsonl --to jsonl -q", rows)
    assert err == b""
    out = tmp_path / "x.html"
    assert program(f"draw - --from jsonl -o {out}", again) == (b"", b"4 drawings written\n")
    assert out.read_text().count("fencepost-tree") >= 2


class TestFinetune:
    def test_ends_with_the_score_and_how_to_use_the_model(
        self, run: Run, lively: Path, tmp_path: Path
    ) -> None:
        data, model = EXAMPLES / "kitchen.train.data", tmp_path / "my model"
        command = ["finetune", data, "-o", model, "-m", lively]
        command += ["--set", "training.epochs=1", "--set", "training.threads=1"]
        status, out, err = run(*command)
        assert status == 0
        epoch, where, use = out.splitlines()
        assert epoch.startswith("epoch 1: loss ")
        assert re.match(rf"{model}: dev entities \d+\.\d\d \(epoch 1 of 1\)$", where)
        assert use == f"use it: fencepost parse \"Some text.\" --model '{model}'"
        assert err.splitlines() == [
            "note: 72 sentences, 633 words, with entities; 10.0% of them are held out for dev",
            f"note: {lively}: no sentence has the layers of tree, tags; these heads rehearse what "
            "they find in the 65 sentences",
            f"note: {lively}: the head entities begins anew, since it has no label in common",
        ]
        status, out, _ = run("parse", "The cook cut an onion.", "--model", model, "--to", "jsonl")
        assert status == 0
        assert {"tree", "entities", "tags"} <= json.loads(out).keys()
        again = run(*command, "--resume", "-q")
        assert again == (0, f"finished before; {where}\n{use}\n", "")
        status, _, err = run(*command)
        assert status == 2
        assert "pass --resume to go on" in err

    def test_ctrl_c_says_how_to_go_on(
        self, run: Run, lively: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("fencepost.run.training.train.draw_training", interrupted)
        data, model = EXAMPLES / "kitchen.train.ptb", tmp_path / "model"
        status, _, err = run(
            "finetune", data, "-o", model, "-m", lively, "--set", "training.epochs=2", "-q"
        )
        assert status == 130
        told = "the same command with --resume goes on from the last checkpoint"
        assert err == f"fencepost: stopped; {told}\n"

    def test_without_torch_it_says_what_to_install(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fencepost.run.training.finetune", None)
        status, _, err = run("finetune", EXAMPLES / "garden.ptb", "-o", tmp_path / "model")
        assert status == 2
        assert err.startswith("fencepost: finetune needs ")
        assert "pip install 'fencepost[train]'" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["draw", "nowhere.ptb", "-o", "x.svg"],
        ["draw", EXAMPLES / "garden.ptb", "-o", "x.gif"],
        ["draw", EXAMPLES / "garden.ptb", "-o", "/nowhere/x.svg", "--sentence", "1"],
        ["draw", EXAMPLES / "garden.ptb"],
        ["train", "nowhere.toml", "--out", "run"],
        ["finetune", "nowhere.ptb", "-o", "model"],
        ["finetune", EXAMPLES / "garden.ptb", "-o", "model", "-m", "nowhere"],
        ["finetune", EXAMPLES / "garden.ptb", "-o", "model", "--from", "ptb", "--format", "data"],
        ["finetune", EXAMPLES / "garden.ptb", "-o", "model", "--set", "training.epoch=1"],
        ["evaluate", EXAMPLES / "garden.ptb", "-m", "nowhere"],
        ["convert", "nowhere.ptb", "-o", "out.jsonl"],
        ["convert", EXAMPLES / "garden.ptb", "-o", "/nowhere/out.jsonl"],
        ["convert", EXAMPLES / "garden.ptb", "-o", "out.xyz"],
        ["score", EXAMPLES / "garden.ptb", "nowhere.ptb"],
        ["trace", EXAMPLES / "demo.sh"],
        ["inspect", "nowhere.ptb"],
        ["frobnicate"],
    ],
)
def test_errors_are_text_and_status_2(run: Run, arguments: list[str | Path]) -> None:
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_standard_output_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fencepost", "inspect", str(EXAMPLES / "garden.ptb")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "fencepost: cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes a stream")
@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", EXAMPLES / "garden.ptb"],
        ["convert", EXAMPLES / "garden.ptb", "--to", "jsonl"],
        ["convert", EXAMPLES / "garden.ptb", "-o", "/dev/fd/1", "--to", "jsonl"],
        ["search", "NP", EXAMPLES / "garden.ptb"],
        ["--version"],
    ],
)
def test_a_closed_standard_output_is_told(arguments: list[str | Path]) -> None:
    command = shlex.join([sys.executable, "-m", "fencepost", *map(str, arguments)])
    done = subprocess.run(f"{command} >&-", shell=True, stderr=subprocess.PIPE, text=True)
    told = "fencepost: standard output is closed; to discard the output, write to /dev/null\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes a stream")
def test_a_closed_standard_error_is_no_reason_to_fail() -> None:
    command = shlex.join(
        [sys.executable, "-m", "fencepost", "convert", str(EXAMPLES / "garden.ptb")]
    )
    done = subprocess.run(f"{command} --to ptb 2>&-", shell=True, stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout.count("(S ")) == (0, 3)


def test_what_is_told_to_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    command = "-m fencepost convert - -o out.jsonl --from ptb"
    with subprocess.Popen(
        [sys.executable, *command.split()], cwd=tmp_path, stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"(S (A a))\n" * 20_000)  # when it has read most of it, it is at work
        process.stdin.flush()
        process.terminate()
        assert process.wait() == 143
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_reason_to_complain(tmp_path: Path) -> None:
    path = tmp_path / "x.ptb"
    path.write_text("(S (A a))\n" * 20_000)
    command = f"{sys.executable} -m fencepost convert {path} --to jsonl -q | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_half_a_character_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"words": ["a\\ud800"], "entities": []}\n')
    done = subprocess.run(
        [sys.executable, "-m", "fencepost", "trace", str(path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 a\\ud800 1" in done.stdout


class TestProgress:
    def test_is_only_for_people(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert watcher(quiet=True) is unwatched
        assert watcher(quiet=False) is unwatched  # standard error is not a terminal here

    def test_goes_through_everything(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        watch = watcher(quiet=False)
        assert len(list(watch(read(EXAMPLES / "garden.ptb")))) == 3
        sides = Sides(EXAMPLES / "garden.ptb", None, ReadSettings())
        assert len(list(watch(sides))) == 3
        assert sides.place == (str(EXAMPLES / "garden.ptb"), 3)
