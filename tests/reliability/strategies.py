"""Texts and files that nobody should bring, and somebody will.

All are made from a `Random`, so that a hundred thousand of them take seconds and each can be made
again from its number. Hypothesis draws from the same, with a `Random` of its own.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from fencepost.formats import write
from fencepost.structure import Parse, Sentence, Span, Tree

SENTENCES = (
    "The cat sat on the mat.",
    "Ann met Bo at the museum in Bergen; it was closed.",
    "He said: \"I can't, won't and shouldn't've!\" (Dr. No, 1962)",
    "Prices rose 3.5% to $1,000.50 on 2020-01-31, i.e. by a third.",
    "1. Go home.\n2. Stay there.\n\nOr not?",
    "State-of-the-art e-mail: a.b@c.de, see https://example.org/a?b=c#d.",
)
# One of each is put between others, or repeated until it hurts.
UNITS = (
    *("👨\u200d👩\u200d👧\u200d👦", "🇳🇴", "🇳", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3", "\u200d"),
    "🏴\U000e0067\U000e007f",
    *("e\u0301", "\u0301", "a" + "\u0300\u0327" * 300, "ก็", "क्ष", "\u1ab0", "\u20dd"),
    *("\u200b", "\u200c", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u034f"),
    *("שלום", "العربية", "\u202eabc\u202c", "\u2067x\u2069", "\u200f", "\u061c"),
    *("\x00", "\x01", "\x07", "\x08", "\x1b[31m", "\x1c", "\x1f", "\x7f", "\x85", "\x9b"),
    *("\ud800", "\udfff", "\udc80", "\ud83d", "\ufffe", "\uffff", "\U0010ffff", "\ufdd0", "\ufffd"),
    *("\u2028", "\u2029", "\n", "\r", "\r\n", "\t", "\v", "\f", " ", "\u00a0", "\u3000", "\u2003"),
    *(".", "...", "!?", "…", "-", "--", "'", "’", "'s", "n't", '"', "``", "''", "(", ")", "[", "]"),
    *("<b>", "</p>", "<!-- x -->", "&amp;", "<script>alert(1)</script>", "]]>", "&#0;"),
    *("def f(x):\n    return x[0]\n", "{}", "\\", "\\ud800", "%s", "{0}", "$(rm)", "x=1;", "//"),
    *("https://a.b/c", "www.x.yz/%00", "a@b.co", "http://[::1]/", "file:///x", "#tag", "@name"),
    *("猫が座った。", "고양이", "кошка", "γάτα", "Ǆ", "ß", "İ", "ﬀ", "𝔘", "ⅷ", "½", "٣", "१२"),
    *("word", "A", "U.S.", "Mr.", "1,000", "1.", "-5", "+47 123-4567", "Ph.D.", "cannot", "gonna"),
    *("-LRB-", "-RRB-", "-NONE-", "XX", "[PAD]", "[CLS]", "[UNK]", "<s>", "##ing", "Ġ", "▁"),
)
_SPLITS = ("train", "dev", "test")
_BLANKS = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u2028\u2029\u202f\u205f\u3000"
_SIGNS = ".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`…–—“”‘’«»¿¡。！？、"
_PIECES = (  # of files, to be put where they do not belong
    *b'( ) (( (S -NONE- | , { } [ ] " \\ \\u0000 \\ud800 null NaN 1e999 -1'.split(),
    *b"\xff \xfe \xef\xbb\xbf \x00 \xed\xa0\x80 \xc0\xaf \xf5 \x1f\x8b".split(),
    *b"B-X I-X # -DOCSTART- < *x*".split(),
    *(b"\t", b"\n\n", b"\n", b"\r", b" ", b"0,1 X", b"T1\tX 0 4\t", b"9" * 5000, b"[" * 1200),
)


def hostile_text(random: Random) -> str:
    """Any text: short as a rule, and seldom a pleasure."""
    return random.choice(_TEXTS)(random)


def hostile_words(random: Random) -> list[str]:
    """Words that somebody else has split, blanks and signs among them."""
    words = (hostile_text(random)[: random.randrange(1, 30)] for _ in range(random.randrange(9)))
    return [word for word in words if word]


def _mixed(random: Random) -> str:
    count = random.randrange(1, 25)
    return "".join(random.choice(UNITS) + random.choice(("", "", " ")) for _ in range(count))


def _repeated(random: Random) -> str:
    return random.choice(UNITS) * random.choice((1, 2, 3, 50, 300))


def _any_characters(random: Random) -> str:
    return "".join(chr(random.randrange(0x110000)) for _ in range(random.randrange(40)))


def _of_one_block(random: Random) -> str:
    start = random.randrange(0x110000 - 256)
    return "".join(chr(start + random.randrange(256)) for _ in range(random.randrange(40)))


def _blanks(random: Random) -> str:
    return "".join(random.choices(_BLANKS, k=random.randrange(30)))


def _signs(random: Random) -> str:
    return "".join(random.choices(_SIGNS + " ", k=random.randrange(60)))


def _long_word(random: Random) -> str:
    letters = random.choice(("a", "aA1", "a.", "a-", "a'", "a_", "1,", "1.", "é", "猫", "a\u0301"))
    return "".join(random.choices(letters, k=random.choice((100, 1_000, 5_000))))


def _mutated(random: Random) -> str:
    text = " ".join(random.choices(SENTENCES, k=random.randrange(1, 4)))
    for _ in range(random.randrange(1, 6)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.randrange(8))
        new = random.choice((random.choice(UNITS), "", text[start:end] * 3))
        text = text[:start] + new + text[end:]
    return text


_TEXTS: Sequence[Callable[[Random], str]] = (
    *(_mixed, _mixed, _repeated, _any_characters, _of_one_block, _blanks, _signs, _long_word),
    *(_mutated, _mutated, _mutated),
)


@lru_cache
def valid_files() -> dict[str, tuple[bytes, ...]]:
    """Files as they should be, of each format that is read; brat's with a text beside it.

    `annotated` is one of JSON lines, too, whose sentences all have a tree and entities.
    """
    sentence = Sentence.from_whitespace(
        ("The", "roof", "of", "the", "house", "(", "red", ")"),
        (" ", " ", " ", " ", " ", "", "", ""),
        tags=("DT", "NN", "IN", "DT", "NN", "-LRB-", "JJ", "-RRB-"),
        id="a-1",
    )
    spans = (Span(0, 8, "NP"), Span(0, 2, "NP"), Span(2, 8, "PP"), Span(3, 8, "NP+X"))
    entities = (Span(0, 8, "object"), Span(3, 5, "place"), Span(3, 5, "object"))
    one = Parse(sentence, Tree(sentence, spans), entities)
    words = Sentence(("Ann", "met", "Bo"), ("NNP", "VBD", "NNP"))
    tree = Tree(words, (Span(0, 3, "S"), Span(0, 1, "NP"), Span(1, 3, "VP"), Span(2, 3, "NP")))
    other = Parse(words, tree, (Span(0, 1, "person"), Span(2, 3, "person")))
    found: dict[str, tuple[bytes, ...]] = {}
    with TemporaryDirectory() as folder:
        for name, suffix in (
            *(("ptb", "ptb"), ("data", "data"), ("jsonl", "jsonl"), ("conll", "conll")),
            *(("brat", "ann"), ("spacy", "spacy"), ("conllu", "conllu"), ("cas", "xmi")),
            *(("labelstudio", "json"), ("doccano", "jsonl")),
        ):
            path = Path(folder, f"x.{suffix}")
            write([one, other, one], path, format=name)
            beside = path.with_suffix(".txt")
            found[name] = (path.read_bytes(), *([beside.read_bytes()] if name == "brat" else []))
    line = {"text": "Ann met Bo", "entities": [[0, 3, "person"]], "tree": str(tree)}
    found["annotated"] = (found["jsonl"][0] + f"{json.dumps(line)}\n".encode(),)
    sentences = [{"words": ["It", "is", "."]}]
    objects = (
        {"version": 1, "status": "ok", "text": "It is.", "sentences": sentences},
        {"text": "Ann met Bo", "entities": [[0, 3, "person"]], "id": 7},
        {"tokens": ["a", "b"], "tree": [[0, 2, "S"]], "tags": ["X", "Y"], "dropped": []},
    )
    lines = "".join(f"{json.dumps(data)}\n" for data in objects).encode()
    found["jsonl"] = (found["jsonl"][0] + lines,)
    # Besides ours, as the tools export them.
    label = {"value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}
    tasks = [
        {"id": 1, "data": {"text": "Ann 😀. It."}, "annotations": [{"result": [label]}]},
        {"id": 2, "data": {"text": "Ann."}, "annotations": [], "predictions": [{"result": []}]},
    ]
    ours = json.loads(found["labelstudio"][0])
    found["labelstudio"] = (json.dumps(ours + tasks, indent=1).encode(),)
    entity = {"id": 1, "start_offset": 0, "end_offset": 3, "label": "PER"}
    exported = json.dumps({"id": 1, "text": "Ann. It.", "entities": [entity], "relations": []})
    found["doccano"] = (found["doccano"][0] + exported.encode() + b"\n",)
    joined = "\t".join(["1-2", "can't", "_", "_", "_", "_", "_", "_", "_", "SpaceAfter=No"])
    rows = "".join(
        f"{n}\t{w}{chr(9)}_\tAUX{chr(9)}_" + "\t_" * 5 + "\n" for n, w in ((1, "ca"), (2, "n't"))
    )
    found["conllu"] = (found["conllu"][0] + f"# text = can't\n{joined}\n{rows}\n".encode(),)
    return found


def mutated_bytes(random: Random, data: bytes) -> bytes:
    """A file after an accident: bytes flipped, cut out, repeated, put in; or packed, or cut off."""
    found = bytearray(data)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 8))):
        start = random.randrange(len(found) + 1)
        end = min(len(found), start + random.choice((1, 1, 2, 10, 100)))
        match random.randrange(6):
            case 0 if start < len(found):
                found[start] ^= 1 << random.randrange(8)
            case 1:
                del found[start:end]
            case 2:
                found[start:start] = found[start:end] * random.choice((1, 2, 50))
            case 3:
                del found[start:]
            case 4:
                found[start:start] = random.randbytes(random.randrange(6))
            case _:
                found[start:start] = random.choice(_PIECES)
    if random.random() < 0.03:
        packed = bytearray(gzip.compress(bytes(found)))
        packed[random.randrange(len(packed))] ^= random.choice((0, 0, 1, 128))
        return bytes(packed)
    return bytes(found)


def hostile_file(random: Random, format: str) -> tuple[bytes, ...]:
    """A file of a format, or what has its name; of brat, the annotations and then the text."""
    if random.random() < 0.05:
        return tuple(random.randbytes(random.randrange(300)) for _ in valid_files()[format])
    if random.random() < 0.05:
        return tuple(
            hostile_text(random).encode("utf-8", "surrogatepass") for _ in valid_files()[format]
        )
    if format == "spacy" and random.random() < 0.5:  # what is packed would else never be reached
        (data,) = valid_files()[format]
        return (zlib.compress(_changed_strings(random, zlib.decompress(data))),)
    files = valid_files()[format]
    struck = random.randrange(len(files))  # of several, an accident seldom befalls all
    return tuple(
        mutated_bytes(random, data) if number == struck or random.random() < 0.3 else data
        for number, data in enumerate(files)
    )


_PENN = b"""( (S
    (NP-SBJ-1 (DT The) (NN cat) )
    (VP (VBD was)
      (VP (VBN seen)
        (NP (-NONE- *-1) )
        (PP=2 (IN by) (NP-LGS (-LRB- -LRB-) (PRP us) (-RRB- -RRB-) ))))
    (. .) ))
"""
_CHINESE = """<DOC>
<HEADER> 1994-01-01 </HEADER>
<BODY>
<S ID=1>
( (IP-HLN (NP-PN-SBJ (NR 上海) (NR 浦东)) (VP (VV 开发) (NP-OBJ (-NONE- *pro*))) (PU 。)))
</S>
<S ID=2>
( (IP (NP-SBJ (-NONE- *pro*)) (VP (-NONE- *RNR*))))
</S>
</BODY>
</DOC>
"""
_GENIA = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE set SYSTEM "gpml.dtd">
<set><article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo>
<title><sentence><cons lex="x" sem="G#other_name"><cons lex="y" sem="G#DNA_region"><cons lex="z"
sem="G#protein_molecule">IL-2</cons> gene</cons> expression</cons> &amp; more.</sentence></title>
<abstract><sentence>Anti-<cons lex="CD28" sem="G#protein_molecule"><w c="NN">CD28</w></cons>-bound.
</sentence><sentence> </sentence></abstract></article>
<article><bibliomisc>MEDLINE:1</bibliomisc><sentence>No term.</sentence></article></set>
"""
_SGM = "<DOC>\n<DOCID> a </DOCID>\n<TEXT>\nAnn of Oslo &amp; Bo met.\nBo slept.\n</TEXT></DOC>\n"
_APF = "".join(
    f'<entity TYPE="{label}"><entity_mention><extent><charseq START="{start}" END="{end}">{text}'
    "</charseq></extent></entity_mention></entity>\n"
    for label, start, end, text in (
        *(("PER", 6, 16, "Ann of Oslo"), ("GPE", 13, 16, "Oslo"), ("PER", 24, 25, "Bo")),
        *(("PER", 6, 25, "Ann of Oslo &amp;amp; Bo"), ("PER", 32, 33, "Bo"), ("ORG", 2, 2, "a")),
    )
)


@lru_cache
def valid_corpora() -> dict[str, dict[str, bytes]]:
    """Small distributions of the corpora that are prepared: the bytes of each file.

    Lists of documents are named `train.ids`, `dev.ids` and `test.ids`.
    """
    lists = {f"{name}.ids": f"{number}\n".encode() for number, name in enumerate(_SPLITS, 1)}
    ace = {f"{name}.ids": f"{name} # its split\n".encode() for name in _SPLITS}
    for name in _SPLITS:
        ace[f"adj/{name}.sgm"] = _SGM.encode()
        ace[f"adj/{name}.apf.xml"] = f"<source_file>\n{_APF}</source_file>\n".encode()
    chinese = (_CHINESE.encode(), _CHINESE.encode("gb18030"), _CHINESE.encode())
    return {
        "ptb": {f"wsj/{n:02}/wsj_{n:02}01.mrg": _PENN for n in range(2, 24)},
        "ctb7": {f"bracketed/chtb_000{n}.nw": text for n, text in enumerate(chinese, 1)} | lists,
        "genia": {"GENIAcorpus3.02.xml": _GENIA},
        "ace2005": ace,
    }


def hostile_corpus(random: Random, corpus: str) -> dict[str, bytes]:
    """Files of a corpus after an accident: those that it struck."""
    files = valid_corpora()[corpus]
    names = random.sample(sorted(files), k=min(len(files), random.choice((1, 1, 1, 2))))
    return {name: mutated_bytes(random, files[name]) for name in names}


@lru_cache
def valid_tables() -> tuple[bytes, ...]:
    """Tables of Parquet as they should be: text, words, and other ways to store the same."""
    table = pa.table({
        "id": pa.array(["a", None, "c", "d", "e"]),
        "text": ["Ann met Bo.", "é 🐟", "", None, "It is. It was."],
        "unread": [1.5, 2.5, None, 0.0, 1.0],
    })  # fmt: skip
    full = pa.table({"text": ["One.", "Two. Three."], "id": [1, 2]})
    words = pa.table({"tokens": [["a", "b"], [], None, ["c"]], "id": [1, 2, 3, None]})
    found = []
    for one, options in (
        (table, {"row_group_size": 2, "compression": "none", "use_dictionary": False}),
        (table, {"row_group_size": 5, "compression": "snappy"}),
        (full, {"compression": "gzip"}),
        (full, {"compression": "zstd", "version": "1.0", "data_page_version": "2.0"}),
        (words, {"row_group_size": 3, "compression": "none"}),
    ):
        file = io.BytesIO()
        pq.write_table(one, file, **options)
        found.append(file.getvalue())
    return tuple(found)


def hostile_table(random: Random) -> tuple[bytes, ...]:
    """A file of Parquet after an accident, as a rule in its last bytes, which say what is in it."""
    data = random.choice(valid_tables())
    if random.random() < 0.5:
        return (mutated_bytes(random, data),)
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = mutated_bytes(random, data[start:-8])
    return (data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1",)


def _changed_strings(random: Random, data: bytes) -> bytes:
    """Packed documents with one letter changed, or cut off; numbers in them are spaCy's own."""
    letters = [place for place, byte in enumerate(data) if 97 <= byte <= 122]
    found = bytearray(data)
    found[random.choice(letters)] = random.randrange(97, 123)
    return bytes(found[: random.choice((len(found), random.randrange(len(found))))])


def hostile_body(random: Random) -> bytes:
    """What may be sent to the server: as a rule a request, with something odd in it."""
    kind = random.randrange(8)
    if kind == 0:
        return random.randbytes(random.randrange(200))
    asked: dict[str, object] = {"text": hostile_text(random)}
    if kind == 1:
        asked = {"words": hostile_words(random)}
    elif kind == 2:
        asked = {"inputs": [hostile_text(random), hostile_words(random), hostile_text(random)]}
    elif kind == 3:
        odd = random.choice(
            (None, True, -1, 1e308, [], {}, "x", [[0, 1]], [[5, 2, "NP"]], {"a": 1})
        )
        asked[random.choice(("beams", "must", "labels", "root", "tasks", "text", "draw", "x"))] = (
            odd
        )
    data = json.dumps(asked, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    return mutated_bytes(random, data) if kind == 4 else data


RANDOMS = st.randoms(use_true_random=False)
TEXTS = st.builds(hostile_text, RANDOMS) | st.text()
WORD_LISTS = st.builds(hostile_words, RANDOMS)
