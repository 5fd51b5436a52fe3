"""The page in Chromium beside Python: the same parses, the first one, speed and memory.

    python bench/browser.py [MODEL [SENTENCES]]

The texts are documents of GUM dev beside the checkout, 300 sentences of them if no other
number is given. Both get the same
text, and Python the weights that the page has, with greedy search and one thread. A second figure
is for the weights before they were packed into 8 bits. Needs Chromium and
`npm --prefix tests/web ci`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import psutil  # type: ignore[import-untyped]
from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1]))

import fencepost
from fencepost.checkpoints.shipped import find_model
from tests.web.local.helpers import as_packed, exported, hosted
from tests.web.pages import chromium, window

DEV = Path(__file__).parents[2] / "shared/data/gum/text/dev.jsonl"
WORDS, ROUNDS = range(23, 28), 20
LAYERS = ("tree", "entities", "tags")
PARSE = """async (text) => {
  const { browser } = await import(new URL("static/local/provider.js", location.href));
  const started = performance.now();
  const { sentences } = await browser.parseText(text);
  return [sentences, performance.now() - started];
}"""


def main() -> None:
    """Print all figures."""
    if not DEV.exists():
        print(f"skipped: there is no {DEV}")
        return
    name, most = (*sys.argv[1:], *("en-small", "300")[len(sys.argv) - 1 :])
    texts = [json.loads(line)["text"] for line in DEV.read_text(encoding="utf-8").splitlines()]
    paragraphs = [part for text in texts for part in text.split("\n\n") if part.strip()]
    with tempfile.TemporaryDirectory() as folder:
        page = exported(name, Path(folder) / "page")
        model = sum(size for file, size in page.bytes.items() if file.startswith("model/"))
        print(f"page: {sum(page.bytes.values()) / 1e6:.1f} MB, model: {model / 1e6:.1f} MB")
        same = fencepost.load(as_packed(find_model(name), Path(folder) / "packed"), threads=1)
        whole = fencepost.load(name, threads=1)
        with (
            hosted(page.folder) as address,
            chromium() as browser,
            window(browser) as context,
        ):
            tab = context.new_page()
            tab.set_default_timeout(600_000)
            started = time.perf_counter()
            tab.goto(address)
            tab.evaluate(PARSE, "The cat sat on the mat.")
            took = time.perf_counter() - started
            load = os.getloadavg()[0]
            print(f"first parse, cold: {took:.1f} s (load of the machine: {load:.1f})", flush=True)
            speed(tab, same, compare(tab, same, whole, paragraphs, most=int(most)))
            print(f"memory of the largest renderer: {renderer() / 1e6:.0f} MB")


def compare(
    page: Page, same: fencepost.Parser, whole: fencepost.Parser, texts: list[str], *, most: int
) -> list[str]:
    """Print how many sentences have the same layers; those of the length that is timed."""
    differing, packed = dict.fromkeys(LAYERS, 0), dict.fromkeys(LAYERS, 0)
    count, timed_later = 0, []
    for text in texts:
        if count >= most:
            break
        found, _ = page.evaluate(PARSE, text)
        documents = [parser.parse(text, beams=1).to_dict() for parser in (same, whole)]
        for own, one, other in zip(found, *(one["sentences"] for one in documents), strict=True):
            assert own["words"] == one["words"]
            assert own["offsets"] == one["offsets"]
            for layer in LAYERS:
                differing[layer] += spans(own, layer) != spans(one, layer)
                packed[layer] += spans(one, layer) != spans(other, layer)
            count += 1
            if len(own["words"]) in WORDS:
                timed_later.append(text[own["offsets"][0][0] : own["offsets"][-1][1]])
    print(f"of {count} sentences, others than in Python: {differing}")
    print(f"others than in Python because of 8 bits: {packed}", flush=True)
    return timed_later[:ROUNDS]


def spans(sentence: dict[str, Any], layer: str) -> list[Any]:
    """A layer without its probabilities."""
    return [row[:3] if layer != "tags" else row for row in sentence.get(layer, [])]


def speed(page: Page, parser: fencepost.Parser, sentences: list[str]) -> None:
    """Print times of single sentences, one here and one there."""
    ratios, here, there = [], [], []
    for sentence in sentences:
        took = timed(partial(parser.parse, sentence, beams=1))
        _, milliseconds = page.evaluate(PARSE, sentence)
        here.append(took)
        there.append(milliseconds / 1000)
        ratios.append(milliseconds / 1000 / took)
    print(
        f"{len(sentences)} sentences of {WORDS.start} to {WORDS.stop - 1} words: Python "
        f"{1000 * median(here):.0f} ms, page {1000 * median(there):.0f} ms; ratio "
        f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    )


def timed(call: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def renderer() -> int:
    """The memory of the largest process that shows a page."""
    children = psutil.Process().children(recursive=True)
    return max(
        int(child.memory_info().rss) for child in children if "--type=renderer" in child.cmdline()
    )


if __name__ == "__main__":
    main()
