"""Every block of README and of the docs is run; pages made from the code are compared with it.

`python -m tests.test_docs` writes anew what pages print, the pages that are made from the code,
and the pictures. With names of pages, it only does these: `python -m tests.test_docs README.md`.
`--outputs` rewrites only what blocks print, on all pages or the named ones. Use it after a change
of the shipped model: a block that fails is listed at the end, and the others are still written.

What the first line of a block says:

    ```python               run; comments at its end are what it prints; names last for the page
    ```console              each `$ command` is run, and what follows it is what it prints
    ```sh                   run by bash; only the status counts
    ```sh status=2          the status that the last command leaves with
    ```console figures=vary  the figures may be others: a network was trained
    ```sh not-run: REASON   only shown; the reasons are in tests/docs/pages.py
    ```toml, ```json        read: TOML as (a part of) settings
    ```text file=NAME       written to a file that what follows can read
    ```text, ```diff, ...   only shown

Each page runs in a folder of its own with examples/ and configs/ in it. In what is printed, `…`
stands for anything within a line, and on a line of its own for any lines.
"""

import contextlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from docs.hooks import on_nav
from docs.make_pictures import FOLDER, pictures, write_pictures
from mkdocs.structure.nav import Navigation

from fencepost.formats.registry import FORMATS
from tests.docs.generated import COMMANDS, command_line_page, help_of, options_page, settings_page
from tests.docs.links import broken, broken_in_site, in_markdown
from tests.docs.pages import REASONS, ROOT, RUN, blocks, name, pages, prose
from tests.docs.running import lay_out, rerun, rerun_text

__all__ = ["COMMANDS"]  # for the tests of the command line

MADE = {
    "docs/reference/command-line.md": command_line_page,
    "docs/reference/options.md": options_page,
    "docs/reference/settings.md": settings_page,
}
ERRORS = "fencepost.errors"
ANEW = "run python -m tests.test_docs"
PAGES = [name(page) for page in pages()]
LINKING = [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md"]
QUICK = [page for page in PAGES if not any(block.language in RUN for block in blocks(ROOT / page))]

# Blocks that are only shown, by reason: look at them before you add to their number.
NOT_RUN = {
    "installs packages": 4,
    "needs a GPU": 2,
    "needs a cluster": 1,
    "needs a corpus that is not in the project": 6,
    "needs a licensed corpus": 2,
    "needs a model hub": 3,
    "needs another package": 2,
    "runs until it is stopped": 1,
    "works on the project itself": 1,
}


@pytest.mark.parametrize(
    "page",
    [page if page in QUICK else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
)
def test_a_page_prints_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert (ROOT / page).read_text() == rerun(ROOT / page), f"{ANEW} {page}"


@pytest.mark.parametrize("page", LINKING)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    assert not list(broken(ROOT / page))


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page: str) -> None:
    problems = [(block.line, block.problem()) for block in blocks(ROOT / page)]
    assert not [found for found in problems if found[1]]
    assert not re.search(r"^ +```", prose(ROOT / page), re.MULTILINE), "a fence is indented"
    assert not in_markdown(ROOT / page).bare, "an indented block escapes the tests: fence it"


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    found = Counter(block.not_run for page in pages() for block in blocks(page) if block.not_run)
    assert dict(found) == NOT_RUN
    assert set(NOT_RUN) <= set(REASONS)


@pytest.mark.parametrize("page", PAGES)
def test_every_name_in_the_prose_exists(page: str) -> None:
    for dotted in re.findall(r"`(fencepost(?:\.\w+)+)[`(]", prose(ROOT / page)):
        found: object = import_module("fencepost")
        path = "fencepost"
        for part in dotted.split(".")[1:]:
            path = f"{path}.{part}"
            if not hasattr(found, part):
                import_module(path)
            found = getattr(found, part)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_the_prose_exists(page: str) -> None:
    named = r"`fencepost ([a-z]+(?:-[a-z]+)*)\b([^`]*)`"
    for command, rest in re.findall(named, prose(ROOT / page)):
        options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest)
        assert command in COMMANDS
        told = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", help_of(command)))
        assert told.issuperset(options), (command, options)


def test_readme_and_docs_compare_other_tools_in_the_same_table() -> None:
    tables = [
        re.findall(r"^\| \| fencepost.*\n(?:\|.*\n)+", (ROOT / page).read_text(), re.MULTILINE)
        for page in ("README.md", "docs/compared.md")
    ]
    assert len(tables[0]) == 1
    assert tables[0] == tables[1]


@pytest.mark.parametrize("page", LINKING)
def test_every_path_in_the_prose_exists(page: str) -> None:
    folders = "src|tests|docs|bench|configs|examples|experiments"
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", prose(ROOT / page)):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", MADE)
def test_a_page_made_from_the_code_is_up_to_date(page: str) -> None:
    assert (ROOT / page).read_text() == MADE[page](), f"{ANEW} {page}"


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_explained(format: str) -> None:
    row = rf"^\| `{format}` \|.*\(\.\./reference/formats\.md#([\w-]+)\)"
    link = re.search(row, (ROOT / "docs/guides/files.md").read_text(), re.MULTILINE)
    assert link, "a row of docs/guides/files.md that links to its section"


def test_the_pictures_are_what_the_library_draws() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert kept == pictures(), ANEW


def test_the_layers_on_the_page_are_those_that_are_kept() -> None:
    (shown,) = (
        block.text
        for block in blocks(ROOT / "docs/developing.md")
        if not block.info and "transition" in block.text
    )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    kept = [re.sub(r"[()]", "", layer) for layer in layers]
    assert [re.split(r"  +", line)[0] for line in shown.splitlines()] == kept


def test_every_public_name_is_on_a_page_of_the_reference() -> None:
    folder = ROOT / "docs/reference/python"
    shown = re.findall(r"^::: ([\w.]+)", "".join(map(Path.read_text, folder.glob("*.md"))), re.M)
    named = {path.rpartition(".")[2] for path in shown} | set(vars(import_module(ERRORS)))
    assert set(import_module("fencepost").__all__) - {"__version__"} <= named
    assert "fencepost.errors" in shown
    assert sorted(shown) == sorted(set(shown)), "twice on a page"


@pytest.mark.slow
def test_the_site_has_no_broken_link_and_asks_no_other_host(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert not list(broken_in_site(tmp_path))


class TestTheHarness:
    """What pages cannot get past."""

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lay_out(tmp_path)
        monkeypatch.chdir(tmp_path)

    def rerun(self, text: str) -> str:
        page = ROOT / "docs" / "none.md"
        return rerun_text(text, where=name(page))

    def test_what_python_prints_is_written_below_it(self) -> None:
        page = "```python\nx = 1\nprint(x)\n# 2\n```\n\n```python\nprint(x + 1)\n```\n"
        assert self.rerun(page) == page.replace("# 2", "# 1").replace("1)\n", "1)\n# 2\n")

    @pytest.mark.parametrize(
        ("printed", "is_kept"),
        [("0.50", True), ("0.49", True), ("0.52", False), ("5.0e-2", False)],
    )
    def test_only_the_last_digit_of_a_fraction_may_differ(
        self, printed: str, is_kept: bool
    ) -> None:
        page = f"```python\nprint('p {printed} of 12')\n# p 0.50 of 12\n```\n"
        assert (self.rerun(page) == page) == is_kept
        assert self.rerun(page.replace("12\n", "13\n")) == page.replace("0.50", printed)

    def test_what_commands_print_is_written_below_them(self) -> None:
        page = "```console\n$ echo a | cat\nb\n$ fencepost --version\n```\n"
        shown = self.rerun(page)
        assert shown.startswith("```console\n$ echo a | cat\na\n$ fencepost --version\n0.")

    def test_what_we_print_can_go_into_other_programs(self) -> None:
        page = "```console\n$ fencepost trace examples/garden.ptb | head -n 2 | grep -v '|'\n```\n"
        assert "# tree of 9 words in 10 steps\n0 The 1 old" in self.rerun(page)

    def test_dots_stand_for_anything(self) -> None:
        page = "```console\n$ printf 'a\\nb 1\\nc 2\\n'\n…\nc…\n```\n"
        assert self.rerun(page) == page

    def test_figures_vary_only_where_they_may(self) -> None:
        page = "```console figures=vary\n$ echo 'F1  98.5'\nF1 7.25\n```\n"
        assert self.rerun(page) == page
        assert self.rerun(page.replace(" figures=vary", "")) != page
        assert self.rerun(page.replace("7.25\n", "x\n")) != page.replace("7.25\n", "x\n")

    @pytest.mark.parametrize(
        "block",
        [
            "```python\n1 / 0\n```\n",
            "```sh\nfalse\n```\n",
            "```sh\nfalse | true\n```\n",
            "```sh status=2\ntrue\n```\n",
            "```sh\nfencepost convert none.ptb -o x.ptb\n```\n",
            "```console\nno prompt\n```\n",
            "```toml\n[training]\nepoch = 3\n```\n",
            "```json\n{]\n```\n",
            "```pyhton\n```\n",
            "```sh not-run: no time\n```\n",
            "```text file=../x\n```\n",
            "```python status=1\n```\n",
            "```text figures=vary\n```\n",
            "```python twice\n```\n",
            "```python\n",
        ],
    )
    def test_what_fails_is_told(self, block: str) -> None:
        with pytest.raises(AssertionError, match=r"none\.md|never closed"):
            self.rerun(block)

    def test_blocks_can_be_files_and_need_not_be_run(self) -> None:
        self.rerun("```text file=a.txt\nhello\n```\n```sh not-run: needs a GPU\nfalse\n```\n")
        assert Path("a.txt").read_text() == "hello\n"
        self.rerun("```sh status=2\nfencepost convert none.ptb -o x.ptb\n```\n")
        self.rerun('```toml\n[training]\nepochs = 3\n```\n```json\n{"a": 1}\n{"b": 2}\n```\n')

    def test_rewriting_goes_on_after_a_block_that_fails_and_says_so(self) -> None:
        page = (
            "```console\n$ printf 'p 0.50\\n'\np 0.51\n```\n```python\n1 / 0\n# x\n```\n"
            "```console\n$ echo b\n…a\n```\n```console figures=vary\n$ echo 2\n1\n```\n"
        )
        notes: list[str] = []
        written = rerun_text(page, where="none.md", exact=True, notes=notes)
        assert written == (
            page.replace("0.51", "0.50").replace("…a", "b").replace("2\n1\n", "2\n2\n")
        )
        failed, shortened = notes
        assert failed.startswith("none.md:5: this block fails: ZeroDivisionError")
        assert shortened == "none.md:9: was shortened with …; do so again"

    def test_rewriting_shortens_again_what_differs_in_figures_alone(self) -> None:
        page = (
            "```console figures=vary\n$ printf 'a 12 of {b}, 7 s\\nb\\nc\\nd 5\\n'\n"
            "a 3 of {b}…s\n…\nd 4\n```\n"
        )
        notes: list[str] = []
        written = rerun_text(page, where="none.md", exact=True, notes=notes)
        assert written == page.replace("a 3", "a 12").replace("d 4", "d 5")
        assert not notes

    def test_outputs_are_rewritten_in_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lay_out(tmp_path / "root")
        monkeypatch.setattr("tests.test_docs.ROOT", tmp_path / "root")
        monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path / "root")
        monkeypatch.setattr("tests.docs.running.ROOT", tmp_path / "root")
        page = tmp_path / "root" / "README.md"
        page.write_text("Two.\n\n```python\nprint(1 + 1)\n# 3\n```\n\n```python\nNo\n```\n")
        assert command(["--outputs", "README.md"]) == 1
        assert "print(1 + 1)\n# 2\n" in page.read_text()
        out, err = capsys.readouterr()
        assert out == "README.md: written anew\n"
        assert err.startswith("README.md:8: this block fails: NameError")
        assert command(["--outputs", "none.md"]) == 2

    def test_what_runs_in_the_background_ends_with_the_page(self) -> None:
        self.rerun("```sh\nsleep 600 & echo $! > pid\n```\n")
        background = int(Path("pid").read_text())
        for _ in range(100):
            if not _is_running(background):
                break
            time.sleep(0.05)
        assert not _is_running(background)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def write_anew(wanted: list[str], *, made: bool) -> None:
    if made:
        write_pictures()
        for page, make in MADE.items():
            (ROOT / page).write_text(make())
    for page in wanted:
        rewrite(page)


def rewrite(page: str, notes: list[str] | None = None) -> None:
    """Replace what the blocks of a page print by what they print now."""
    before = (ROOT / page).read_text()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lay_out(Path(folder))
        text = rerun(ROOT / page, exact=True, notes=notes)
    if text != before:
        (ROOT / page).write_text(text)
        print(f"{page}: written anew", flush=True)  # noqa: T201


def write_outputs(wanted: list[str]) -> list[str]:
    """Rewrite the outputs of pages and return notes on what a person should look at."""
    notes: list[str] = []
    for page in wanted:
        rewrite(page, notes)
    return notes


def command(arguments: list[str]) -> int:
    wanted = [argument for argument in arguments if argument != "--outputs"]
    if unknown := set(wanted) - {*PAGES, *MADE}:
        print(f"no such page: {', '.join(sorted(unknown))}", file=sys.stderr)  # noqa: T201
        return 2
    if "--outputs" in arguments:
        notes = write_outputs(wanted or PAGES)
        print(*notes, sep="\n", end="\n" if notes else "", file=sys.stderr)  # noqa: T201
        return 1 if notes else 0
    made = [page for page in wanted if page in MADE]
    for page in made:
        (ROOT / page).write_text(MADE[page]())
    if not wanted or set(wanted) - set(made):
        write_anew([page for page in wanted or PAGES if page not in made], made=not wanted)
    return 0


@pytest.mark.parametrize(("value", "links"), [("", []), ("1", ["try/"])])
def test_the_site_links_to_the_page_that_is_built_beside_the_docs(
    monkeypatch: pytest.MonkeyPatch, value: str, links: list[str]
) -> None:
    monkeypatch.setenv("FENCEPOST_SITE", value)
    assert [item.url for item in on_nav(Navigation([], [])).items] == links


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
