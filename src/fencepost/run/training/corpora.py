"""The sentences of a run: to train on, and to score with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

from fencepost.config import Corpus, DataSettings
from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.settings import Relabel
from fencepost.run.convert import merged
from fencepost.structure import Parse


def read_corpora(
    corpora: Sequence[Corpus], data: DataSettings, *, is_gold: bool = False
) -> Iterator[tuple[Corpus, Parse]]:
    """Sentences to train on, or to score with: then no entity may go uncounted.

    Raises:
        ConfigError: a pattern of `skip` matches nothing, so it is mistyped or for another file.
    """
    for corpus in corpora:
        settings = _read_settings(corpus, data, is_gold=is_gold)
        reading = ParseReader(corpus.path, format=corpus.format, settings=settings)
        both = (
            reading
            if corpus.also is None
            else merged(reading, ParseReader(corpus.also, settings=settings))
        )
        unused = set(corpus.skip)
        for parse in both:
            matching = {pattern for pattern in corpus.skip if fnmatchcase(parse.id or "", pattern)}
            unused -= matching
            if not matching:
                yield corpus, parse
        if unused:
            raise ConfigError(
                f"data: {corpus.path}: skip: no sentence has an id like {min(unused)!r}"
            )


def _read_settings(corpus: Corpus, data: DataSettings, *, is_gold: bool) -> ReadSettings:
    dropping = data.on_crossing == "drop-sentence"
    return ReadSettings(
        encoding=data.encoding,
        on_crossing="drop-span" if is_gold and dropping else data.on_crossing,
        drop_traces=data.drop_traces,
        drop_functions=data.drop_functions,
        drop_features=data.drop_features,
        rename=corpus.rename,
        rename_tags=corpus.rename_tags,
        relabel=tuple(Relabel(rule.label, rule.tags, rule.to) for rule in corpus.relabel),
        splice=corpus.splice,
        entity_columns=corpus.entity_columns,
    )


Read = tuple[Corpus, Parse]


def hold_out(parses: Sequence[Read], share: float) -> tuple[list[Read], list[Parse]]:
    """Sentences to train on, and a share of them to score with instead.

    Which ones depends on their words alone: sentences that are the same stay together, and those
    that were held out once are so again when the files have grown.

    Raises:
        DataError: there are fewer than two different sentences.
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for index, (_, parse) in enumerate(parses):
        places.setdefault(parse.words, []).append(index)
    if len(places) < 2:
        raise DataError(
            "at least two different sentences are needed to hold out some of them for dev; there "
            f"{'is one' if places else 'is none'}"
        )
    order = sorted(places, key=lambda words: sha256("\0".join(words).encode()).digest())
    held: set[int] = set()
    for words in order[:-1]:
        if held and len(held) + len(places[words]) > share * len(parses):
            break
        held.update(places[words])
    rest = [pair for index, pair in enumerate(parses) if index not in held]
    return rest, [parses[index][1] for index in sorted(held)]
