"""Fuzz the readers of annotations and of model folders, guided by the lines that inputs reach.

    python -m pip install --constraint constraints.txt atheris
    python bench/coverage_fuzz.py [--minutes 4] [--seed 1] [ptb conll brat words pieces]

`fuzz.py` changes valid files at random. Here atheris keeps each input that reaches new branches of
fencepost and changes that one further, so that it gets behind checks that random changes never
pass. `ptb`, `conll`, `brat` and others read files, and read again what they write of them. `words`
and `pieces` load the folder of a small model in which one file is changed, and parse with what
loads; the graphs that onnxruntime gets are written from that folder's settings.

An input ends in a valid result or an error of ours, within some seconds. Whatever else comes of one
is a violation: it is shown, as small as it goes, and the status is 1. Each target runs in a process
of its own, for an input may end it. With the same seed on a machine of another speed, other inputs
are reached.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

CHECKOUT = Path(__file__).parents[1]
READERS = ("ptb", "data", "conll", "conllu", "brat", "jsonl")
FOLDERS = ("words", "pieces")
USUAL = ("ptb", "conll", "brat", *FOLDERS)
SECONDS = 10.0  # of the processor, that one input may take
MOST_MEMORY = 4096  # MiB, of the process
MEMORY = "/dev/shm"  # where each input is written, so that no disk slows them down
LONGEST = 4096  # bytes of an input of a reader
MOST_VIOLATIONS = 20
BETWEEN = b"\n\0\n"  # an `.ann` and its `.txt` in one input
PIECES = {
    "ptb": ("(", ")", "((", "(S", "(NP (DT the))", "-LRB-", "-NONE-", "<S ID=1>", "</S>", "*x*"),
    "data": ("0,1 A", "|", "0,2 B|1,2 C", "\n\n", "\r", "a b c"),
    "conll": ("\tO", "\tB-X", "\tI-X", "\tS-X", "\tE-X", "# ", "-DOCSTART-", "\n\n", "1\t", " O"),
    "conllu": ("1-2\t", "1.1\t", "# text = ", "# sent_id = ", "SpaceAfter=No", "\t_", "1\ta"),
    "brat": ("T1\t", "X 0 3", ";4 5", "\tAnn", "R1\t", BETWEEN.decode(), "\ufeff", "99999999", "é"),
    "jsonl": ('{"text":', '"words":', '"entities":', '"tree":', "null", "[[0,1]]", "\\ud800", "}"),
}
_TOKENS = re.compile(rb"(\s+|[()|;,\"])")
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 64, 2**31, 2**63, 10**30, 0.0, -0.5, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "x", "auto", "bert", "roberta", "\ud800", "a" * 5000, [], {}),
    *([0], [[]], ["a", "a"], {"a": 1}, [1, 2, 3], "0", "NP", "../x", "/etc/passwd"),
)


@dataclass(slots=True)
class Found:
    """What came of a target's inputs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    violations: dict[str, str] = field(default_factory=dict)  # by place, with the input


@dataclass(frozen=True, slots=True)
class Target:
    """What inputs are sent to.

    Attributes:
        send: an input through it; returns the outcome.
        seeds: valid inputs.
        change: an input after a change of its structure, or None if it has none.
    """

    send: Callable[[bytes], str]
    seeds: Sequence[bytes]
    change: Callable[[bytes, Random], bytes | None]


def main() -> int:
    """Run the targets one after the other and print a table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("targets", nargs="*", metavar="target", help=", ".join(READERS + FOLDERS))
    options.add_argument("--minutes", type=float, default=4.0, help="of each target")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--alone", type=Path, help=argparse.SUPPRESS)  # its folder
    asked = options.parse_args()
    names = asked.targets or USUAL
    unknown = [name for name in names if name not in READERS + FOLDERS]
    if unknown:
        options.error(f"unknown: {unknown[0]}; known: {', '.join(READERS + FOLDERS)}")
    if asked.alone:
        fuzz(names[0], asked.alone, seconds=60 * asked.minutes, seed=asked.seed)
    rows, failed = [], False
    for name in names:
        row, went_wrong = fuzzed_alone(name, minutes=asked.minutes, seed=asked.seed)
        rows.append(row)
        failed = failed or went_wrong
    from measuring import circumstances, table

    for key, value in circumstances().items():
        print(f"{key}: {value}")
    print()
    figures = ("inputs", "valid", "refused", "violations", "branches, seeds", "branches", "kept")
    table(("target", *figures, "slowest, s"), rows)
    return 1 if failed else 0


def fuzzed_alone(name: str, *, minutes: float, seed: int) -> tuple[list[str], bool]:
    """Fuzz one target in a process, and return its row of the table and whether it failed."""
    with tempfile.TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as place:
        folder = Path(place)
        command = [sys.executable, __file__, name, "--alone", place]
        command += ["--minutes", str(minutes), "--seed", str(seed)]
        done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
        log = done.stderr.decode(errors="replace")
        found = _found(folder)
        failed = bool(found.violations) or done.returncode != 0
        for where, given in found.violations.items():
            print(f"violation: {name}, {where}\n  {given}\n", flush=True)
        if done.returncode:
            print(f"{name} ended with status {done.returncode}\n{log[-3000:]}")
            for path in folder.glob("crash/*"):
                print(f"  {path.name}: {path.read_bytes()[:2000]!r}")
    covered = [int(number) for number in re.findall(r"\bcov: (\d+)", log)]
    kept = re.findall(r"\bcorp: (\d+)", log)
    outcomes = found.outcomes
    counts = (outcomes.total(), *(outcomes[what] for what in ("valid", "refused", "violation")))
    first, last = (covered[0], covered[-1]) if covered else (0, 0)
    row = [name, *(f"{count:,}" for count in (*counts, first, last)), *kept[-1:]]
    return [*row, f"{found.slowest:.2f}"], failed


def _found(folder: Path) -> Found:
    try:
        data = json.loads((folder / "found.json").read_text())
    except OSError:
        return Found()
    outcomes, slowest, violations = data
    return Found(Counter(outcomes), slowest, violations)


def fuzz(name: str, folder: Path, *, seconds: float, seed: int) -> None:
    """Fuzz a target in this process, which ends with it, and leave what was found in a folder."""
    import atheris

    sys.path.insert(0, str(CHECKOUT))
    with atheris.instrument_imports(include=["fencepost"]):
        target = reader(name, folder) if name in READERS else model_folder(name, folder)
    found, told = Found(), time.monotonic()

    def tell() -> None:
        draft = folder / "found.draft"
        draft.write_text(json.dumps([dict(found.outcomes), found.slowest, found.violations]))
        draft.replace(folder / "found.json")

    def one(data: bytes) -> None:
        nonlocal told
        started = time.process_time()
        try:
            outcome = target.send(data)
            if time.process_time() - started > SECONDS:
                raise TimeoutError(f"more than {SECONDS:g} s")
        except (Exception, _panic()) as error:
            outcome, where = "violation", _place(error)
            if where not in found.violations and len(found.violations) < MOST_VIOLATIONS:
                found.violations[where] = repr(_smallest(data, where, target.send))[:3000]
                tell()
        found.outcomes[outcome] += 1
        found.slowest = max(found.slowest, time.process_time() - started)
        if time.monotonic() - told > 2:
            told = time.monotonic()
            tell()

    def mutator(data: bytes, most: int, number: int) -> bytes:
        random = Random(number)
        changed = target.change(data, random) if random.random() < 0.5 else None
        return changed[:most] if changed is not None else bytes(atheris.Mutate(data, most))

    seeds, words = folder / "seeds", folder / "words"
    for created in (seeds, folder / "kept", folder / "crash"):
        created.mkdir()
    for number, data in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(data)
    pieces = [piece.encode("utf-8", "surrogatepass") for piece in PIECES.get(name, ())]
    words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in pieces))
    longest = LONGEST if name in READERS else max(map(len, target.seeds)) + LONGEST
    flags: dict[str, object] = {"max_total_time": int(seconds), "seed": seed, "max_len": longest}
    flags |= {"dict": words} if pieces else {}
    flags |= {"timeout": 12 * int(SECONDS), "rss_limit_mb": MOST_MEMORY, "verbosity": 1}
    places = [str(folder / "kept"), str(seeds)]
    given = [f"-{key}={value}" for key, value in flags.items()]
    given.append(f"-artifact_prefix={folder}/crash/")
    atheris.Setup([sys.argv[0], *given, *places], one, custom_mutator=mutator)
    atheris.Fuzz()


def _panic() -> type[BaseException]:
    """What libraries in Rust raise, which is none of Python's `Exception`."""
    panics = BaseException.__subclasses__()
    return next((one for one in panics if one.__name__ == "PanicException"), TimeoutError)


def _place(error: BaseException) -> str:
    """The kind of an error and the last line of fencepost that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/fencepost/" in frame.filename] or frames
    where = ours[-1].filename.rpartition("/src/")[2]
    return f"{type(error).__name__} at {where}:{ours[-1].lineno}: {str(error)[:200]}"


def _smallest(data: bytes, where: str, send: Callable[[bytes], str]) -> bytes:
    """The shortest input found in some seconds that ends at the same place."""
    until, size = time.monotonic() + 5, len(data) // 2
    kind = where.split(": ")[0]
    while size and time.monotonic() < until:
        start = 0
        while start < len(data) and time.monotonic() < until:
            shorter = data[:start] + data[start + size :]
            try:
                send(shorter)
                start += size
            except (Exception, _panic()) as error:
                if _place(error).startswith(f"{kind}: "):
                    data = shorter
                else:
                    start += size
        size //= 2
    return data


def _escaped(piece: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in piece
    )


def reader(format: str, folder: Path) -> Target:
    """A reader: what it reads, whole or in part, is valid, and the same when it is written."""
    from fencepost.errors import FencepostError
    from fencepost.formats import ParseReader, ReadSettings, write
    from fencepost.formats.registry import FORMATS
    from tests.reliability.routes import check_parse
    from tests.reliability.strategies import UNITS, valid_files

    path = folder / f"x{FORMATS[format].suffix}"
    again = folder / f"y{FORMATS[format].suffix}"
    strict = ReadSettings()
    forgiving = ReadSettings(skip_bad=True, on_crossing="drop-span")

    def read(path: Path, settings: ReadSettings = strict) -> list[Any]:
        parses = list(ParseReader(path, format=format, settings=settings))
        for parse in parses:
            check_parse(parse)
        return parses

    def send(data: bytes) -> str:
        first, between, second = data.partition(BETWEEN)
        path.write_bytes(first if format == "brat" else data)
        if format == "brat":
            path.with_suffix(".txt").write_bytes(second if between else b"Ann met Bo.\n")
        outcome, parses = "valid", []
        try:
            parses = read(path)
        except FencepostError:
            outcome = "refused"
            try:
                parses = read(path, forgiving)
            except FencepostError:
                return outcome
        try:
            write(parses, again, format=format)
        except FencepostError:
            return outcome
        before, after = (_content(read) for read in (parses, read(again)))
        if before != after:
            raise AssertionError(f"read as {before}, written, and read as {after}"[:1500])
        return outcome

    seeds = [BETWEEN.join(valid_files()[format])]
    seeds += [data[: len(data) // 2] for data in seeds]
    units = [unit.encode("utf-8", "surrogatepass") for unit in UNITS]
    return Target(send, seeds, lambda data, random: change_tokens(data, random, units))


def change_tokens(data: bytes, random: Random, units: Sequence[bytes]) -> bytes:
    """An input with some words or signs exchanged for others, so that many are still valid.

    Args:
        data: the input.
        random: draws what is exchanged.
        units: odd words, from which new ones are drawn.
    """
    tokens = _TOKENS.split(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        place = random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                tokens[place] = random.choice(tokens)
            case 1:
                tokens[place] += random.choice(units)
            case 2:
                tokens[place] = random.choice(units) + tokens[place]
            case 3:
                end = min(len(tokens), place + random.randrange(9))
                tokens[place:place] = tokens[place:end]
            case _:
                tokens[place] = random.choice(units)
    return b"".join(tokens)


def _content(parses: Sequence[Any]) -> list[tuple[Any, ...]]:
    """What every format keeps of what it has read: words, spans and entities."""
    return [
        (
            parse.words,
            None if parse.tree is None else parse.tree.spans,
            None if parse.entities is None else sorted(parse.entities),
        )
        for parse in parses
    ]


def model_folder(kind: str, folder: Path) -> Target:
    """A model's folder with one file changed, by the first byte of the input."""
    from fencepost.checkpoints.loading import load_model
    from fencepost.checkpoints.model import save_model
    from fencepost.errors import FencepostError
    from fencepost.parser.parser import Parser
    from fencepost.runtime.manifest import MANIFEST
    from tests.models import lively_model, transformer_model
    from tests.reliability.routes import check_document
    from tests.tiny import tiny_transformer

    good, changed = folder / "good", folder / "changed"
    if kind == "words":
        save_model(lively_model("tree", "entities", "tags"), good)
    else:
        made = transformer_model(tiny_transformer(folder), lstm_layers=1)
        save_model(made, good)
    shutil.copytree(good, changed)
    suffixes = (".json", ".safetensors")
    names = sorted(path.name for path in good.iterdir() if path.suffix in suffixes)
    whole = {name: (good / name).read_bytes() for name in names}

    def send(data: bytes) -> str:
        name = names[data[0] % len(names)] if data else MANIFEST
        if name != MANIFEST:
            (changed / MANIFEST).unlink(missing_ok=True)
        (changed / name).write_bytes(data[1:])
        try:
            parser = Parser(load_model(changed, threads=1))
            for text in ("The cat sat on the mat. Ann met Bo.", "a", "é 🐟 (x) " * 20):
                document = parser.parse(text)
                check_document(document, text)
                if not document.is_ok:
                    raise AssertionError(f"loaded, and then: {document.status}")
        except FencepostError as error:
            if not str(error):
                raise AssertionError("an error without a message") from error
            return "refused"
        finally:
            (changed / name).write_bytes(whole[name])
            (changed / MANIFEST).write_bytes(whole[MANIFEST])
        return "valid"

    seeds = [bytes([number]) + whole[name] for number, name in enumerate(names)]
    return Target(send, seeds, lambda data, random: change_json(data, random, names))


def change_json(data: bytes, random: Random, names: Sequence[str]) -> bytes | None:
    """An input with some values of its JSON changed; None if there is no JSON in it.

    Of weights, the header is changed, and its length is put right.
    """
    if len(data) < 10:
        return None
    first, rest, behind = data[:1], data[1:], b""
    is_header = names[data[0] % len(names)].endswith(".safetensors")
    if is_header:
        length = int.from_bytes(rest[:8], "little")
        rest, behind = rest[8 : 8 + length], rest[8 + length :]
    try:
        value = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        value = _changed(value, random)
    made = json.dumps(value).encode()
    if is_header:
        made = len(made).to_bytes(8, "little") + made
    return first + made + behind


def _changed(value: Any, random: Random) -> Any:
    """JSON with one value replaced, left out, doubled, or exchanged with another."""
    places = list(_places(value))
    if not places or random.random() < 0.02:
        return _copy(random.choice(ODD_VALUES))
    holder, key = random.choice(places)
    match random.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, _copy(holder[key]))
        case 2:
            other, name = random.choice(places)
            if isinstance(other, Mapping) or name < len(other):
                holder[key] = _copy(other[name])
        case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] += random.choice((-1, 1, 2, 100, 0.5))
        case 4 if isinstance(holder, dict):
            holder[random.choice(("x", "model", "kind", "shape", "", "version"))] = _copy(
                holder[key]
            )
        case _:
            holder[key] = _copy(random.choice(ODD_VALUES))
    return value


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _places(value: Any) -> Any:
    """Each place in JSON, as what holds it and its key."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


if __name__ == "__main__":
    sys.exit(main())
