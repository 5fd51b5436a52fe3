"""How well text is split into sentences and words, and how fast, by us and by others.

    python bench/splitting.py [train|dev]

The measure is the running text of GUM beside the checkout. A word or a sentence is right if it
starts and ends at the same characters as a gold one. We get the raw text of a document. The others
get it cut at blank lines, since some do not know paragraphs. All find sentences, and words within.
A candidate without words of its own gets nltk's, one without sentences nltk's Punkt trained on the
text of the train part. Those that are not installed are left out.

GUM cuts compounds at hyphens, and Penn's own rules do not. So there is a second figure for words:
with gold and predicted words both cut at every hyphen.
"""

from __future__ import annotations

import importlib
import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

SHARED = Path(__file__).parents[2] / "shared/data/gum/text"
MEGABYTE = 1_000_000  # characters

Offsets = tuple[int, int]
Splitter = Callable[[str], Iterable[list[Offsets]]]  # words of each sentence
Words = Callable[[str], Iterable[Offsets]]


class Document(NamedTuple):
    """A text and the words of its gold sentences."""

    text: str
    sentences: list[list[Offsets]]


def documents(part: str) -> list[Document]:
    """The documents of one part."""
    lines = (SHARED / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Document(
            document["text"],
            [[(start, end) for start, end in s["words"]] for s in document["sentences"]],
        )
        for document in map(json.loads, lines)
    ]


def library(name: str) -> Any:
    """A library that may not be installed."""
    return importlib.import_module(name)


def version_of(package: str) -> str:
    """The version that is installed, or a dash for a checkout that is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"


def import_time(modules: Iterable[str]) -> float:
    """Processor seconds that a new Python needs to import modules, beyond its own start."""
    taken = []
    for code in ("", f"import {', '.join(modules)}"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return taken[1] - taken[0]


def found(text: str, strings: Iterable[str]) -> Iterator[Offsets]:
    """Where strings stand that follow one another in a text; one that was changed is left out."""
    position = 0
    for string in strings:
        start = text.find(string, position)
        if string and start >= 0:
            position = start + len(string)
            yield start, position


def by_paragraph(split: Splitter) -> Splitter:
    """The same splitter, for each paragraph on its own."""

    def splitter(text: str) -> Iterator[list[Offsets]]:
        for paragraph in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text):
            at = paragraph.start()
            for words in split(paragraph[0]):
                yield [(at + start, at + end) for start, end in words]

    return splitter


def with_words(sentences: Words, words: Words) -> Splitter:
    """A splitter into sentences, and one into words within them."""

    def splitter(text: str) -> Iterator[list[Offsets]]:
        for start, end in sentences(text):
            yield [(start + a, start + b) for a, b in words(text[start:end])]

    return splitter


def ours() -> Splitter:
    """Our own."""
    from fencepost.text import split_text

    return lambda text: [list(sentence.offsets or ()) for sentence in split_text(text)]


def nltk_words() -> Words:
    """Penn Treebank words of nltk."""
    words: Words = library("nltk.tokenize").NLTKWordTokenizer().span_tokenize
    return words


def punkt() -> Words:
    """Punkt, trained without annotation on the text of the train part."""
    text = "\n\n".join(document.text for document in documents("train"))
    sentences: Words = library("nltk.tokenize.punkt").PunktSentenceTokenizer(text).span_tokenize
    return sentences


def nltk() -> Splitter:
    """Sentences and words of nltk."""
    return by_paragraph(with_words(punkt(), nltk_words()))


def treebank() -> Splitter:
    """Words of nltk's older Treebank rules."""
    return by_paragraph(
        with_words(punkt(), library("nltk.tokenize").TreebankWordTokenizer().span_tokenize)
    )


def spacy() -> Splitter:
    """Words of spaCy's rules for English, sentences of its sentencizer."""
    language = library("spacy").blank("en")
    language.add_pipe("sentencizer")

    def split(text: str) -> Iterator[list[Offsets]]:
        for sentence in language(text).sents:
            yield [(t.idx, t.idx + len(t)) for t in sentence if not t.is_space]

    return by_paragraph(split)


def pysbd() -> Splitter:
    """Sentences of pysbd."""
    segmenter = library("pysbd").Segmenter(language="en", clean=False, char_span=True)

    def sentences(text: str) -> Iterator[Offsets]:
        for span in segmenter.segment(text):
            yield span.start, span.end

    return by_paragraph(with_words(sentences, nltk_words()))


def sentencex() -> Splitter:
    """Sentences of sentencex."""
    segment = library("sentencex").segment

    def sentences(text: str) -> Iterator[Offsets]:
        return found(text, (part.strip() for part in segment("en", text)))

    return by_paragraph(with_words(sentences, nltk_words()))


def syntok() -> Splitter:
    """Sentences and words of syntok."""
    analyze = library("syntok.segmenter").analyze

    def split(text: str) -> Iterator[list[Offsets]]:
        for paragraph in analyze(text):
            for sentence in paragraph:
                yield [(w.offset, w.offset + len(w.value)) for w in sentence]

    return by_paragraph(split)


def blingfire() -> Splitter:
    """Sentences and words of BlingFire."""
    fire = library("blingfire")

    def sentences(text: str) -> Iterable[Offsets]:
        spans: list[Offsets] = fire.text_to_sentences_and_offsets(text)[1]
        return spans

    def words(text: str) -> Iterable[Offsets]:
        spans: list[Offsets] = fire.text_to_words_with_offsets(text)[1]
        return spans

    return by_paragraph(with_words(sentences, words))


CANDIDATES: dict[str, tuple[tuple[str, ...], Callable[[], Splitter]]] = {  # what each imports
    "fencepost": (("fencepost.text",), ours),
    "nltk, Punkt and NLTKWordTokenizer": (("nltk",), nltk),
    "nltk, Punkt and TreebankWordTokenizer": (("nltk",), treebank),
    "spaCy, blank English and sentencizer": (("spacy",), spacy),
    "pysbd, words by nltk": (("pysbd", "nltk"), pysbd),
    "sentencex, words by nltk": (("sentencex", "nltk"), sentencex),
    "syntok": (("syntok.segmenter",), syntok),
    "blingfire": (("blingfire",), blingfire),
}


def f1(pairs: Iterable[tuple[set[Offsets], set[Offsets]]]) -> float:
    """F1 in percent, of gold and predicted offsets of each document."""
    right = total = 0
    for gold, predicted in pairs:
        right += len(gold & predicted)
        total += len(gold) + len(predicted)
    return 200 * right / total


def sentences_of(sentences: Iterable[list[Offsets]]) -> set[Offsets]:
    """The first and the last character of each sentence."""
    return {(words[0][0], words[-1][1]) for words in sentences if words}


def words_of(sentences: Iterable[list[Offsets]]) -> set[Offsets]:
    """All words."""
    return {word for words in sentences for word in words}


def cut_at_hyphens(text: str, words: Iterable[Offsets]) -> set[Offsets]:
    """Words, with a hyphen always a word of its own."""
    return {
        (start + part.start(), start + part.end())
        for start, end in words
        for part in re.finditer(r"-+|[^-]+", text[start:end])
    }


def main() -> None:
    """Print the table."""
    part = sys.argv[1] if len(sys.argv) > 1 else "dev"
    gold = documents(part)
    megabyte = "\n\n".join(document.text for document in gold)
    megabyte = (megabyte * (MEGABYTE // len(megabyte) + 1))[:MEGABYTE]
    print(f"GUM {part}: {len(gold)} documents")
    print("| | version | word F1 | hyphens aside | sentence F1 | import, s | 1 MB, s |")
    print("|---|---|---|---|---|---|---|")
    for name, (modules, candidate) in CANDIDATES.items():
        try:
            splitter = candidate()
        except ModuleNotFoundError as error:
            print(f"{name}: left out, {error.name} is not installed", file=sys.stderr)
            continue
        predicted = [list(splitter(document.text)) for document in gold]
        both = list(zip(gold, predicted, strict=True))
        words = f1((words_of(g.sentences), words_of(p)) for g, p in both)
        aside = f1(
            (cut_at_hyphens(g.text, words_of(g.sentences)), cut_at_hyphens(g.text, words_of(p)))
            for g, p in both
        )
        sentences = f1((sentences_of(g.sentences), sentences_of(p)) for g, p in both)
        start = time.process_time()
        for _ in splitter(megabyte):
            pass
        taken = time.process_time() - start
        print(
            f"| {name} | {version_of(modules[0].split('.')[0])} | {words:.2f} | {aside:.2f} "
            f"| {sentences:.2f} | {import_time(modules):.2f} | {taken:.1f} |"
        )


if __name__ == "__main__":
    main()
