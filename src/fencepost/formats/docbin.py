"""spaCy's binary documents (`.spacy`), with entities in a span group, where they may nest.

A `DocBin` is compressed as a whole, so all of it is in memory. Errors have the number of a document
where other formats have a line. spaCy has no constituency trees; a pipeline with fencepost stores
them in span groups, from which they are read.

This module also decides which tokens of any `Doc` are words and which words are a sentence:
`split_doc` for the parser, its parts for a pipeline.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fencepost.errors import ConfigError, DataError
from fencepost.formats.data import entities_of
from fencepost.formats.entries import Entry, parse_with_entities, refuse
from fencepost.formats.files import Source, atomic_output
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree

if TYPE_CHECKING:
    import spacy.tokens
    import spacy.vocab

# The span groups of fencepost in a pipeline.
ENTITIES = "fencepost"  # by default
TREE = "fencepost_tree"  # the spans of the trees in pre-order
TAGS = "fencepost_tags"  # each word, labelled with its tag
SENTENCES = "fencepost_sentences"  # the sentences; a label is the reason why one was not parsed
SCORES = "scores"  # the attribute of a group with probabilities, as in spaCy's spancat

_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")  # the first bytes of zlib data
MOST_UNPACKED = 1 << 30  # bytes: spaCy unpacks a file all at once
_PART = 1 << 24  # bytes to decompress at a time
_ID = "id"  # the key of a sentence's id in a document's `user_data`


Splitter = Callable[["spacy.tokens.Doc"], Sequence[int]]  # returns the starts of sentences


def split_doc(doc: spacy.tokens.Doc, splitter: Splitter) -> tuple[Sentence, ...]:
    """The sentences of a document, without tags. Each refers to the whole text."""
    text = doc.text
    sentences = (words_of(sentence) for sentence in sentences_of(doc, splitter))
    return tuple(sentence_of(words, text) for words in sentences if words)


def sentences_of(doc: spacy.tokens.Doc, splitter: Splitter) -> list[spacy.tokens.Span]:
    """The sentences of a document; without boundaries, those of a splitter.

    A splitter's sentences include the blanks that follow them, so that none is only blanks;
    boundaries within a token are ignored. The document stays as it is.
    """
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    behind = {*splitter(doc)[1:]}
    starts: list[int] = []
    due = False  # whether a sentence starts with the next word
    for token in doc:
        due = due or token.idx in behind
        if due and not token.text.isspace():
            starts.append(token.i)
            due = False
    return [doc[start:end] for start, end in pairwise((0, *starts, len(doc)))]


def words_of(sentence: spacy.tokens.Span) -> list[spacy.tokens.Token]:
    """The tokens that are words: spaCy has tokens of blanks, too."""
    # `token.is_space` does not work with a vocabulary without a language.
    return [token for token in sentence if not token.text.isspace()]


def sentence_of(
    words: Sequence[spacy.tokens.Token], text: str | None, *, tags: bool = False
) -> Sentence:
    """A sentence of the words of a document.

    Args:
        words: tokens that are words.
        text: the text of the document, if known.
        tags: whether to copy the tags of the tokens, if they have any.
    """
    names = tuple(word.tag_ for word in words) if tags else ()
    return Sentence(
        tuple(word.text for word in words),
        names if any(names) else None,
        text,
        None if text is None else tuple((word.idx, word.idx + len(word)) for word in words),
    )


def check_place(span: spacy.tokens.Span) -> None:
    """Refuse a span whose tokens no longer have the characters that it was made over."""
    first, last = span.doc[span.start], span.doc[span.end - 1]
    if (span.start_char, span.end_char) != (first.idx, last.idx + len(last)):
        raise moved()


def moved() -> DataError:
    """The error for a document whose span groups belong to other tokens."""
    return DataError(
        "tokens of this Doc were merged or split after its span groups were made, and spaCy leaves "
        "the groups behind then; what does that has to come before fencepost in a pipeline",
        kind="misaligned",
    )


class _Scored(NamedTuple):
    """A span of a document with its probability."""

    span: spacy.tokens.Span
    probability: float | None = None


class _Part(NamedTuple):
    """A sentence of a document with the spans that touch it; None: a layer is not annotated."""

    sentence: spacy.tokens.Span
    entities: list[_Scored] | None
    tree: list[_Scored] | None
    tags: list[_Scored] | None


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of the documents."""
    _require_spacy()
    with source.open() as file:
        data = file.read(2)
        if data not in _ZLIB:  # checked before reading all of a file that may be anything
            raise DataError(
                "no documents of spaCy (DocBin): not packed with zlib", path=source.name
            )
        data += file.read(MOST_UNPACKED)
    for number, doc in enumerate(_docs(data, source.name), 1):
        name = doc.user_data.get(_ID)
        try:
            with _spacy_errors():
                parts = _parts(doc, settings.span_group)
        except DataError as error:
            yield Entry(number, partial(refuse, error))
            continue
        text = None if doc.has_unknown_spaces else doc.text
        for index, part in enumerate(parts, 1):
            if not part.entities and not part.sentence.text.strip():
                continue
            id = name if len(parts) == 1 else f"{name}-{index}"
            id = id if isinstance(name, str) else None
            yield Entry(number, partial(_read, part, text, id, settings))


@contextmanager
def _spacy_errors() -> Iterator[None]:
    """Turn spaCy's exceptions for impossible spans and missing strings into a `DataError`."""
    try:
        yield
    except (IndexError, KeyError, ValueError) as error:
        raise DataError(f"no document of spaCy (DocBin): {error.args[0]}") from error


def _require_spacy() -> None:
    try:
        import spacy.tokens  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            'spaCy is needed for this format: pip install "fencepost[spacy]"'
        ) from error


def _docs(data: bytes, name: str) -> Iterator[spacy.tokens.Doc]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        _check_unpacked(data)
        yield from DocBin().from_bytes(data).get_docs(Vocab())
    except Exception as error:  # damaged data fails anywhere
        raise DataError(f"no documents of spaCy (DocBin): {error}", path=name) from error


def _check_unpacked(data: bytes) -> None:
    """Refuse data that would fill the memory: zlib expands a thousand times at most."""
    unpacking, size = zlib.decompressobj(), len(data)
    while data:
        if size > MOST_UNPACKED:
            raise ValueError(f"more than {MOST_UNPACKED:,} bytes when unpacked; split the file")
        size += len(unpacking.decompress(data, _PART))
        data = unpacking.unconsumed_tail


def _parts(doc: spacy.tokens.Doc, group: str) -> list[_Part]:
    """The sentences of a document: those that were parsed, else its own, else all of it as one."""
    parsed = _group(doc, SENTENCES) if TREE in doc.spans else None
    if parsed:
        starts = [sentence.span.start for sentence in parsed]
        sentences = [doc[start:end] for start, end in pairwise((0, *starts[1:], len(doc)))]
    else:
        sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    entities = _by_sentence(_entities(doc, group), sentences)
    trees = _by_sentence(_group(doc, TREE) if parsed else None, sentences)
    tags = _by_sentence(_group(doc, TAGS), sentences)
    parts = [_Part(*part) for part in zip(sentences, entities, trees, tags, strict=True)]
    for index, sentence in enumerate(parsed or ()):
        if sentence.span.label_:  # not parsed: no spans does not mean that there are none
            parts[index] = parts[index]._replace(tree=None, entities=entities[index] or None)
    return parts


def _entities(doc: spacy.tokens.Doc, group: str) -> list[_Scored] | None:
    """The entities of a document; None if they are not annotated."""
    for name in (group, ENTITIES):
        if name in doc.spans:
            return _group(doc, name)
    return list(map(_Scored, doc.ents)) if doc.has_annotation("ENT_IOB") else None


def _group(doc: spacy.tokens.Doc, name: str) -> list[_Scored] | None:
    """The spans of a group, with probabilities if it has one for each."""
    if name not in doc.spans:
        return None
    group = doc.spans[name]
    try:
        scores = list(map(float, group.attrs.get(SCORES, ())))
    except (TypeError, ValueError):  # another program's attribute
        scores = []
    if len(scores) != len(group):  # spaCy loses them when it joins documents
        return list(map(_Scored, group))
    return list(map(_Scored, group, scores))


def _by_sentence(
    scored: list[_Scored] | None, sentences: list[spacy.tokens.Span]
) -> Sequence[list[_Scored] | None]:
    """For each sentence the spans that touch it; None if they are not annotated."""
    if scored is None:
        return [None] * len(sentences)
    starts = [sentence.start for sentence in sentences]
    touching: list[list[_Scored]] = [[] for _ in sentences]
    for one in scored:
        first = bisect_right(starts, one.span.start) - 1
        behind = max(first + 1, bisect_right(starts, one.span.end - 1))
        for spans in touching[first:behind]:
            spans.append(one)
    return touching


@_spacy_errors()
def _read(part: _Part, text: str | None, id: str | None, settings: ReadSettings) -> tuple[Parse]:
    tokens = words_of(part.sentence)
    words = replace(sentence_of(tokens, text, tags=True).alone(), id=id)
    if part.tags is not None:
        words = replace(words, tags=_tags(part.tags, part, tokens, words))
    tree = (
        None
        if part.tree is None
        else Tree(words, tuple(_spans(part.tree, part, tokens, words, FoundSpan)))
    )
    if part.entities is None:
        return (Parse(words, tree),)
    entities = _spans(part.entities, part, tokens, words, Entity)
    return (parse_with_entities(words, entities, on_crossing=settings.on_crossing, tree=tree),)


def _tags(
    scored: Iterable[_Scored],
    part: _Part,
    tokens: Sequence[spacy.tokens.Token],
    words: Sentence,
) -> tuple[str, ...] | None:
    """The predicted tags, and the document's for words without one."""
    predicted = {span.start: span.label for span in _spans(scored, part, tokens, words, FoundSpan)}
    tags = tuple(predicted.get(index) or token.tag_ for index, token in enumerate(tokens))
    return tags if any(tags) else None


def _spans(
    scored: Iterable[_Scored],
    part: _Part,
    tokens: Sequence[spacy.tokens.Token],
    words: Sentence,
    kind: type[FoundSpan],
) -> Iterator[Span]:
    """Spans of words, from spans of tokens, some of which may be blanks."""
    numbers = [token.i for token in tokens]
    for span, probability in scored:
        if span.start < part.sentence.start or span.end > part.sentence.end:
            raise DataError(f"{_shown(span)} goes beyond the sentence {part.sentence.text!r}")
        start, end = bisect_left(numbers, span.start), bisect_left(numbers, span.end)
        if start == end:
            raise DataError(f"{_shown(span)} holds no word", kind="misaligned")
        check_place(span)
        if probability is None:
            yield Span(start, end, span.label_)
        else:
            yield kind(start, end, span.label_, words, probability)


def _shown(span: spacy.tokens.Span) -> str:
    return f"{span.label_} over {span.text!r}"


def save(parses: Iterable[Parse], path: Path, settings: WriteSettings) -> None:
    """Write one document per parse: words, blanks, tags, id, and entities in a span group."""
    _require_spacy()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    packed = DocBin(attrs=["TAG"], store_user_data=True)
    for parse in parses:
        packed.add(_doc(parse, vocab, settings.span_group))
    with atomic_output(path) as file:
        file.write(packed.to_bytes())


def _doc(parse: Parse, vocab: spacy.vocab.Vocab, group: str) -> spacy.tokens.Doc:
    from spacy.tokens import Doc
    from spacy.tokens import Span as SpanOfDoc

    sentence = parse.sentence
    if not sentence.words:
        raise DataError("a sentence without words is no document", kind="empty")
    for word in sentence.words:
        if word.isspace():
            raise DataError(f"the word {word!r} is only blanks, which spaCy has between words")
    gaps = sentence.whitespace
    doc = Doc(
        vocab,
        words=list(sentence.words),
        # spaCy has one blank or none after a word; None means unknown.
        spaces=None if gaps is None else [bool(gap) for gap in gaps],
        tags=None if sentence.tags is None else list(sentence.tags),
    )
    doc.spans[group] = [SpanOfDoc(doc, *span) for span in entities_of(parse)]
    if sentence.id is not None:
        doc.user_data[_ID] = sentence.id
    return doc
