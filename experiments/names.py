"""How well names are told from other mentions, and what entities that keep to the tree cost.

    python -m experiments.names TREES.ptb ENTITIES.jsonl

Gold names are gold entities whose head, by the gold tree, has the tag of a proper noun. They are
compared with what the predicted tree and tags say of the same spans, and with the names that are
found. Words are gold, as in all scores.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import islice

import fencepost
from fencepost.formats import read
from fencepost.structure import Entity, Parse, Sentence


def gold_of(trees: str, entities: str, limit: int | None) -> list[Parse]:
    """Sentences with both gold layers."""
    found = []
    for tree, named in zip(islice(read(trees), limit), islice(read(entities), limit), strict=True):
        assert tree.words == named.words
        spans = tuple(Entity(*span, tree.sentence) for span in named.entities or ())
        found.append(Parse(tree.sentence, tree.tree, spans))
    return found


def told(name: str, right: int, found: int, gold: int) -> str:
    """Precision, recall and F1 in a line."""
    precision, recall = right / max(1, found), right / max(1, gold)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return f"{name:34} {100 * precision:6.2f} {100 * recall:6.2f} {100 * f1:6.2f}  {gold:6,}"


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("trees")
    options.add_argument("entities")
    options.add_argument("--limit", type=int)
    given = options.parse_args()
    gold = gold_of(given.trees, given.entities, given.limit)
    parser = fencepost.load()
    words = [Sentence(one.words) for one in gold]
    free = [one.only() for one in parser.parse_many(words)]
    strict = [one.only() for one in parser.parse_many(words, consistent=True)]
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for one, other in zip(gold, free, strict=True):
        assert one.entities is not None
        assert other.tags is not None
        assert one.tags is not None
        for span in one.entities:
            assert isinstance(span, Entity)
            assert span.head_word is not None
            again = span_in(span, other)
            assert again.head_word is not None
            place = again.head_word.start
            counts["spans"] += 1
            counts["heads"] += span.head_word.start == place
            counts["gold"] += bool(span.is_name)
            counts["told"] += bool(again.is_name)
            counts["both"] += bool(span.is_name and again.is_name)
            if span.is_name != again.is_name:
                kind = "missed" if span.is_name else "extra"
                why = "tag" if span.head_word.start == place else "head"
                wrong[f"{kind}, by {why} ({one.tags[place]} as {other.tags[place]})"] += 1
    print(f"{'':34} {'P':>6} {'R':>6} {'F1':>6}  {'gold':>6}")
    print(told("names among gold spans", counts["both"], counts["told"], counts["gold"]))
    for name, parses in (("entities", free), ("entities, consistent", strict)):
        right = sum(
            len(set(one.entities or ()) & set(two.entities or ()))
            for one, two in zip(gold, parses, strict=True)
        )
        found = sum(len(one.entities or ()) for one in parses)
        print(told(name, right, found, counts["spans"]))
        names = [{span for span in one.entities or () if span.is_name} for one in parses]
        real = [{span for span in one.entities or () if span.is_name} for one in gold]
        right = sum(len(one & two) for one, two in zip(names, real, strict=True))
        print(told(f"names, {name}", right, sum(map(len, names)), sum(map(len, real))))
    print(f"head words the same: {100 * counts['heads'] / counts['spans']:.2f} %")
    for name, count in wrong.most_common(8):
        print(f"{count:5} {name}")


def span_in(span: Entity, parse: Parse) -> Entity:
    """The same span in another parse of its sentence."""
    return Entity(*span, parse.sentence).within(parse.tree)


if __name__ == "__main__":
    main()
