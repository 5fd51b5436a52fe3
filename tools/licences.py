"""The page about the licences of the weights and of all packages: `docs/licences.md`.

    python tools/licences.py [--check]

The licence of the weights is decided in LICENSE.md beside them; this copies it to all pages
that name it.

Versions are those in `constraints.txt`, and licences those that the installed packages tell in
their metadata, so it wants an environment with everything in it: `make .venv/.dev`. With
`--check`, nothing is written, and the status is 1 if the page is another.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs/licences.md"
ALWAYS = "always"  # what is installed without any extra

# What packages tell in older ways, as SPDX says it.
CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
SAID = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "PSFL": "PSF-2.0",
    "new BSD License": "BSD-3-Clause",
}
HEAD = """\
# Licences

fencepost itself is under the Apache License 2.0, and holds no code of others. What pip installs
along has licences of its own. This page lists every version that `constraints.txt` pins, with the
licence that the package tells in its metadata, and which [extras](quickstart.md) of fencepost
bring it along; `always` is what each installation has. It is made by `python tools/licences.py`,
and a test compares it with the pins.

## Who has to do what

- **Who uses fencepost**, on a machine of their own or as a service for others, has to do nothing
  for any of these licences.
- **Who hands packages on**, in an image or an installer, hands on their licences and notices,
  too: pip leaves them in each package's `.dist-info` folder, so it is enough not to delete them.
  Apache-2.0 also wants its `NOTICE` files kept, and changed files to say so.
- **Who changes files of a package under MPL-2.0 and hands them on** has to offer the source of
  these files under MPL-2.0. What only imports them is not touched by it.
- **A wheel may hold libraries beside its own code**, compiled in (numpy and torch hold numerical
  ones, pyarrow and ray many). Their licences stand in the wheel, beside its own.
"""
WEIGHTS = CHECKOUT / "src/fencepost/models/en-small/LICENSE.md"
NAME = re.compile(r"CC BY(?:-[A-Z]{2})* \d\.\d")
SPDX = re.compile(r"CC-BY(?:-[A-Z]{2})*-\d\.\d")  # the same, in the label of the image
NAMING = ("README.md", "docs/compared.md", "docs/faq.md", "docs/index.md")
ALLOWS = {  # by the letters behind CC BY
    "NC": "You may not use them commercially.",
    "ND": "You may not pass on changed weights.",
    "SA": "Weights that you change, fine-tuned ones for example, go on under the same licence.",
}


def weights() -> tuple[str, str]:
    """The licence of the weights that ship, and the section about it."""
    told = re.search(rf"\*\*({NAME.pattern})\*\*", WEIGHTS.read_text(encoding="utf-8"))
    if told is None:
        sys.exit(f"{WEIGHTS}: no licence in bold, as in **CC BY 4.0**")
    licence = told[1]
    letters = licence.split()[1].split("-")[1:]
    allowed = "" if "NC" in letters else ", also commercially"
    address = f"https://creativecommons.org/licenses/{licence.split()[1].lower()}/{licence[-3:]}/"
    lines = [
        "## The weights",
        "",
        f"The weights of `en-small`, the model that ships, are under [{licence}]({address}):",
        "",
        f"- You may use them{allowed}, and pass them on.",
        "- You name where they come from.",
        *(f"- {ALLOWS[letter]}" for letter in letters),
        "",
        "`LICENSE.md` in the model's folder is what counts; it and the card beside it name the",
        "licences of the texts that the model was trained on. A model that you train without",
        "starting from it is not bound by its licence.",
        "",
    ]
    return licence, "\n".join(lines)


def pages() -> dict[Path, str]:
    """The pages that name the licence of the weights, as they should be."""
    licence, _ = weights()
    named = {CHECKOUT / path: NAME.sub(licence, _text(path)) for path in NAMING}
    image = SPDX.sub(licence.replace(" ", "-"), _text("Dockerfile"))
    return named | {CHECKOUT / "Dockerfile": image, PAGE: page()}


def pins() -> dict[str, tuple[str, str]]:
    """Names as pinned and versions, by canonical name."""
    found = re.findall(r"^([\w.-]+)==(\S+)$", _text("constraints.txt"), re.MULTILINE)
    return {canonicalize_name(name): (name, version) for name, version in found}


def licence_of(name: str) -> str:
    """What an installed package tells of its licence."""
    try:
        told = dict(distribution(name).metadata.json)
    except PackageNotFoundError:
        return "not installed"
    expression = told.get("license_expression")
    if expression:
        return str(expression)
    said = str(told.get("license", "")).strip().replace("UNKNOWN", "")
    if said and "\n" not in said and len(said) < 60:
        return SAID.get(said, said)
    classified = [
        line.rpartition(" :: ")[2]
        for line in told.get("classifier", ())
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    if classified:
        return " AND ".join(CLASSIFIED.get(one, one) for one in classified)
    return said.splitlines()[0].strip() if said else "not told"


def _text(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def needed(asked: Iterable[Requirement]) -> set[str]:
    """The canonical names of all that some requirements bring along, as far as it is installed."""
    waiting = [(canonicalize_name(one.name), frozenset(one.extras)) for one in asked]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            lines = distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, lines):
            marker = requirement.marker
            given = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if marker is None or any(marker.evaluate(env) for env in given):
                waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}


def extras_of_packages() -> dict[str, list[str]]:
    """The extras that bring each package along, by canonical name; the first that has to."""
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    always = needed(map(Requirement, project["dependencies"]))
    found: defaultdict[str, list[str]] = defaultdict(list, {name: [ALWAYS] for name in always})
    extras: Mapping[str, list[str]] = project["optional-dependencies"]
    for extra, lines in extras.items():
        asked = [one for one in map(Requirement, lines) if one.name != "fencepost"]
        for name in sorted(needed(asked) - always):
            if extra != "dev" or name not in found:
                found[name].append(extra)
    return dict(found)


def page() -> str:
    """The page as it should be."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    extras, pinned = extras_of_packages(), pins()
    licences = {name: licence_of(name) for name in pinned}
    yield HEAD.replace("## Who has", f"{weights()[1]}\n## Who has")
    yield "## Every package\n"
    yield "| package | version | licence | comes with |\n|---|---|---|---|"
    for name, (written, version) in pinned.items():
        yield f"| {written} | {version} | {licences[name]} | {', '.join(_with(extras, name))} |"
    yield "\n## How often each licence occurs\n"
    yield "| licence | packages | of these, always |\n|---|---|---|"
    for licence in sorted(set(licences.values()), key=str.lower):
        names = [name for name in licences if licences[name] == licence]
        always = sum(ALWAYS in _with(extras, name) for name in names)
        yield f"| {licence} | {len(names)} | {always} |"
    yield ""


def _with(extras: Mapping[str, list[str]], name: str) -> list[str]:
    return extras.get(name, ["dev"])


def main() -> int:
    """Write the pages, or only look whether they are the right ones."""
    made = pages()
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
