"""The pictures of the docs, drawn by the library. `python -m tests.test_docs` writes them.

No model is asked: trees and entities are given, so that the pictures depend on nothing else.
"""

import re
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
MAT = Tree.from_brackets(
    "(ROOT (S (NP (NNP Ann)) (VP (VBD slept) (PP (IN on) (NP (DT the) (NN mat))) "
    "(PP (IN in) (NP (NNP Oslo)))) (. .)))"
)
MAN_WITH_TELESCOPE = Tree.from_brackets(
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) "
    "(NP (DT the) (NN telescope))))) (. .))"
)
SEEN_WITH_TELESCOPE = Tree.from_brackets(
    "(S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) "
    "(NP (DT the) (NN telescope)))) (. .))"
)
CORRECTED = Tree.from_brackets(
    "(S (NP (PRP I)) (VP (VP (VBD saw) (NP (DT the) (NN man))) (PP (IN with) "
    "(NP (DT the) (NN telescope)))) (. .))"
)
HONEY = Sentence(
    ("Stir", "three", "spoons", "of", "sweet", "honey", "into", "the", "small", "jar", ".")
)
HONEY_ENTITIES = (Span(1, 6, "ingredient"), Span(1, 3, "quantity"), Span(7, 10, "tool"))


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


WORDS = ("The", "cat", "on", "the", "mat", "slept", ".")
CURSOR = 5
QUESTIONS = (  # boundary, the span that pointing there makes, chance of yes, probability in the end
    (2, "PP: on the mat", "yes: 0.89", "0.89"),
    (0, "NP: The … mat", "yes: 0.80", "0.11 · 0.80"),
    (6, "slept", "yes: 0.70", "0.11 · 0.20 · 0.70"),
    (7, "slept .", "the last one takes the rest", "0.11 · 0.20 · 0.30"),
)


def nearest_first_svg() -> str:
    """The candidates of a step in the order in which they are asked, as arcs from the cursor."""
    step, base, left = 92, 150, 30
    text = 'font-family="sans-serif" font-size="14" fill="#1f2328" text-anchor="middle"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * left + 7 * step}" height="300" '
        f'viewBox="0 0 {2 * left + 7 * step} 300" role="img" aria-label="{ARCS}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for index, word in enumerate(WORDS):
        x = left + (index + 0.5) * step
        lines.append(f'<text x="{x:g}" y="{base + 22}" {text}>{word}</text>')
    for boundary in range(len(WORDS) + 1):
        x, is_cursor = left + boundary * step, boundary == CURSOR
        colour = "#cf222e" if is_cursor else "#57606a"
        lines.append(f'<circle cx="{x}" cy="{base}" r="{6 if is_cursor else 3}" fill="{colour}"/>')
        lines.append(f'<text x="{x}" y="{base + 42}" {text} font-weight="bold">{boundary}</text>')
    badges = []
    for number, (boundary, span, yes, probability) in enumerate(QUESTIONS, 1):
        start, end = left + CURSOR * step, left + boundary * step
        middle, height = (start + end) / 2, 34 + abs(end - start) * 0.5
        lines.append(
            f'<path d="M {start} {base} Q {middle:g} {base - height:g} {end} {base}" fill="none" '
            'stroke="#0969da" stroke-width="2"/>'
        )
        y = base - height / 2
        badges.append(f'<circle cx="{middle:g}" cy="{y:g}" r="11" fill="#0969da"/>')
        white = text.replace("#1f2328", "#ffffff")
        badges.append(f'<text x="{middle:g}" y="{y + 5:g}" {white}>{number}</text>')
        row = text.replace("middle", "start")
        told = f"{number}. point to {boundary} ({span})? {yes}; p = {probability}"
        lines.append(f'<text x="{left}" y="{base + 62 + 20 * number}" {row}>{told}</text>')
    return "\n".join([*lines, *badges, "</svg>\n"])


ARCS = "From the cursor at 5 four candidates are asked in order: 2, 0, 6 and 7"


def side_by_side(*drawings: str) -> str:
    """Several drawings in one, from left to right, at the height of the tallest."""
    sizes = [tuple(map(float, re.findall(r'(?:width|height)="([\d.]+)"', d)[:2])) for d in drawings]
    width, height = sum(size[0] for size in sizes), max(size[1] for size in sizes)
    left, inside = 0.0, []
    for drawing, size in zip(drawings, sizes, strict=True):
        inside.append(drawing.replace("<svg ", f'<svg x="{left:g}" ', 1).strip())
        left += size[0]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
    view = f'viewBox="0 0 {width:g} {height:g}" role="img">'
    return "\n".join([head + view, *inside, "</svg>\n"])


def pictures() -> dict[str, str]:
    """All pictures: names of files, and what they hold."""
    museum = Parse(MUSEUM.sentence, entities=MUSEUM_ENTITIES)
    return {
        "museum-tree.svg": tree_svg(MUSEUM),
        "museum-entities.svg": entities_svg(museum),
        "mat-tree.svg": tree_svg(MAT),
        "telescope-readings.svg": side_by_side(
            tree_svg(MAN_WITH_TELESCOPE), tree_svg(SEEN_WITH_TELESCOPE)
        ),
        "telescope-corrected.svg": tree_svg(CORRECTED, boundaries=True),
        "honey-entities.svg": entities_svg(Parse(HONEY, entities=HONEY_ENTITIES)),
        "boundaries.svg": tree_svg(GARDENER, boundaries=True),
        "entity-fillers.svg": entities_svg(_with_fillers(museum), boundaries=True, width=None),
        "nearest-first.svg": nearest_first_svg(),
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
