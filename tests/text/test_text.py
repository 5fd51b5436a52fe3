import json
import subprocess
import sys
import time

from hypothesis import example, given

from fencepost.text import split_text, split_words
from tests.shared import SHARED, needs_shared_data
from tests.text.test_words import ODD, texts

Offsets = tuple[int, int]


@given(texts)
@example("\n".join(ODD))
def test_sentences_hold_all_words_and_slice_the_whole_text(text: str) -> None:
    sentences = split_text(text)
    offsets: list[Offsets] = []
    for sentence in sentences:
        assert sentence.text is text
        assert sentence.words
        assert sentence.offsets is not None
        assert sentence.words == tuple(text[start:end] for start, end in sentence.offsets)
        offsets += sentence.offsets
    assert offsets == split_words(text)


def test_an_empty_text_has_no_sentences() -> None:
    assert split_text("") == split_text("  \n\n ") == ()


def test_a_line_of_a_megabyte_is_split_quickly() -> None:
    line = "The fox can't jump over 3.5 lazy dogs, e.g. at Mr. Roe's well-known house. "
    start = time.process_time()
    sentences = split_text(line * (1_000_000 // len(line)))
    assert time.process_time() - start < 20  # it takes about one
    assert len(sentences) == 1_000_000 // len(line)
    assert len(split_text("word " * 200_000)) == 1


def test_splitting_loads_no_library() -> None:
    code = (
        "import sys; from fencepost.text import split_text; split_text('So.');"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'nltk', 'spacy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@needs_shared_data
def test_words_and_sentences_are_those_of_gum() -> None:
    right = {"words": 0, "sentences": 0}
    total = {"words": 0, "sentences": 0}
    with (SHARED / "gum/text/dev.jsonl").open(encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            gold: dict[str, set[Offsets]] = {
                "words": {(a, b) for s in document["sentences"] for a, b in s["words"]},
                "sentences": {(s["start"], s["end"]) for s in document["sentences"]},
            }
            found = [s.offsets or () for s in split_text(document["text"])]
            predicted: dict[str, set[Offsets]] = {
                "words": {word for words in found for word in words},
                "sentences": {(words[0][0], words[-1][1]) for words in found},
            }
            for kind in gold:
                right[kind] += len(gold[kind] & predicted[kind])
                total[kind] += len(gold[kind]) + len(predicted[kind])
    assert 200 * right["words"] / total["words"] >= 99.5
    assert 200 * right["sentences"] / total["sentences"] >= 95
