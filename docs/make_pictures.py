"""The pictures of the docs, drawn by the library. `python -m tests.test_docs` writes them.

No model is asked: trees and entities are given, so that the pictures depend on nothing else.
"""

from collections.abc import Iterator
from pathlib import Path

from fencepost import Parse, Sentence, Span, Tree
from fencepost.drawing.svg import entities_svg, tree_svg
from fencepost.tasks import constituency, entities
from fencepost.transition import Configuration, fill_gaps, pointings

FOLDER = Path(__file__).parent / "pictures"

MUSEUM = Tree.from_brackets(
    "(ROOT (S (NP (NP (DT The) (NN director)) (PP (IN of) (NP (NP (DT the) (NNP Museum)) "
    "(PP (IN of) (NP (JJ Modern) (NNPS Boats))) (PP (IN in) (NP (NNP Bergen)))))) "
    "(VP (VBD resigned)) (. .)))"
)
MUSEUM_ENTITIES = (Span(0, 10, "person"), Span(3, 10, "organization"), Span(9, 10, "place"))
GARDENER = Tree.from_brackets(
    "(S (NP (DT The) (NN gardener)) (VP (VBD planted) (NP (NNS roses))) (. .))"
)


def step_pictures(tree: Tree) -> Iterator[tuple[str, str]]:
    """The spans that are complete after each step of making a tree, fillers among them."""
    configuration = Configuration(len(tree.sentence))
    complete: list[Span] = []
    for number, step in enumerate(pointings(constituency.encode(tree)), start=1):
        start, end = sorted((configuration.cursor, step.boundary))
        complete.append(Span(start, end, step.label or "∅"))
        configuration = configuration.point(step.boundary)
        sentence = Sentence(tree.words)
        parse = Parse(sentence, entities=tuple(complete))
        yield f"step-{number}.svg", entities_svg(parse, boundaries=True, width=None)


def pictures() -> dict[str, str]:
    """All pictures: names of files, and what they hold."""
    museum = Parse(MUSEUM.sentence, entities=MUSEUM_ENTITIES)
    return {
        "museum-tree.svg": tree_svg(MUSEUM),
        "museum-entities.svg": entities_svg(museum),
        "boundaries.svg": tree_svg(GARDENER, boundaries=True),
        "entity-fillers.svg": entities_svg(_with_fillers(museum), boundaries=True, width=None),
        **dict(step_pictures(GARDENER)),
    }


def _with_fillers(parse: Parse) -> Parse:
    """Entities with the fillers that the parser needs between and around them."""
    spans = fill_gaps(entities.encode(parse.entities or (), len(parse.sentence)))
    shown = tuple(Span(span.start, span.end, span.label or "∅") for span in spans)
    return Parse(parse.sentence, entities=shown)


def write_pictures() -> None:
    """Write all pictures, and remove those that are no more."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pictures()
    for path in FOLDER.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
