"""Pictures of an analysis: F1 by what spans are like, all systems in one picture."""

from __future__ import annotations

import io
from importlib.util import find_spec
from math import nan
from typing import TYPE_CHECKING, Any, Literal

from fencepost.drawing.colours import PALETTES
from fencepost.drawing.markup import NO_LABEL, visible
from fencepost.errors import ConfigError
from fencepost.run.analysis.report import LayerAnalysis
from fencepost.scoring.breakdown import Layer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Theme = Literal["light", "dark"]

LABELS = 20  # that are drawn; all are in the table
FEW = 30  # gold spans; a bin with fewer says little

# Each breakdown, its heading, and what the numbers along its axis are.
TITLES: dict[Layer, dict[str, tuple[str, str]]] = {
    "tree": {
        "length": ("By length", "words of the span"),
        "children": ("By number of children", "spans and words directly below"),
        "label": ("By label", "label"),
        "depth": ("By depth", "distance from the top"),
        "sentence": ("By length of the sentence", "words of the sentence"),
    },
    "entities": {
        "length": ("By length", "words of the entity"),
        "children": ("By number of entities inside", "entities directly inside"),
        "label": ("By label", "label"),
        "depth": ("By nesting", "1: in no other entity"),
        "sentence": ("By length of the sentence", "words of the sentence"),
    },
}
_ORDER = (0, 7, 6, 4, 3, 2, 1, 5)  # colours of labels whose neighbours are easy to tell apart
_MARKERS = "osD^vPX*"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # the reader's fonts have letters that those of the library lack
    "svg.hashsalt": "fencepost",  # the same analysis gives the same picture
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
}


def check_matplotlib() -> None:
    """Refuse to go on without what draws, before anything is computed."""
    if find_spec("matplotlib") is None:
        raise ConfigError("the report needs matplotlib: pip install 'fencepost[train]'")


def picture(analysis: LayerAnalysis, by: str, *, theme: Theme = "light") -> str:
    """A picture in SVG of one breakdown.

    Args:
        analysis: of some systems.
        by: `length`, `children`, `label`, `depth` or `sentence`.
        theme: of its colours.
    """
    import warnings

    # Without pyplot no window system is asked for, and nothing is kept after the drawing.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    palette = PALETTES[theme]
    paint: dict[Any, Any] = {
        "text.color": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.edgecolor": palette.line,
        "xtick.color": palette.ink,
        "ytick.color": palette.ink,
        "legend.labelcolor": palette.ink,
    }
    out = io.StringIO()
    with rc_context({**_SETTINGS, **paint}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the reader's fonts may have it
        figure = Figure(figsize=(6.6, 3.6), layout="constrained", facecolor=palette.paper)
        axes = figure.subplots()
        axes.set_facecolor(palette.paper)
        axes.spines[["top", "right"]].set_visible(False)
        draw = _bars if by == "label" else _lines
        handles = draw(analysis, by, figure=figure, axes=axes, theme=theme)
        if len(analysis.systems) > 1:
            # Told one by one, since a name that begins with _ would else be left out.
            names = [visible(system.name) or NO_LABEL for system in analysis.systems]
            figure.legend(handles, names, loc="outside upper left", frameon=False, ncols=3)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _colour(index: int, theme: Theme) -> str:
    return PALETTES[theme].labels[_ORDER[index % len(_ORDER)]]


def _lines(
    analysis: LayerAnalysis, by: str, *, figure: Figure, axes: Axes, theme: Theme
) -> list[Any]:
    """F1 against bins that have an order, with the number of gold spans below each.

    Returns:
        What stands for each system in a legend.
    """
    systems = analysis.systems
    bins = systems[0].scores.by[by]
    places = range(len(bins))
    handles: list[Any] = []
    for index, system in enumerate(systems):
        matches = list(system.scores.by[by].values())
        # Of nothing, nothing is drawn.
        figures = [match.f1 if match.gold or match.predicted else nan for match in matches]
        colour, marker = _colour(index, theme), _MARKERS[index % len(_MARKERS)]
        shift = 0.06 * (index - (len(systems) - 1) / 2)
        across = [place + shift for place in places]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 6}
        handles += axes.plot(across, figures, linewidth=1.5, **style)
        for x, y, match in zip(across, figures, matches, strict=True):
            if match.gold < FEW:  # hollow
                axes.plot(x, y, markerfacecolor=PALETTES[theme].paper, **style)
    axes.set_xticks(list(places), [f"{name}\n{match.gold:,}" for name, match in bins.items()])
    axes.set_xlim(-0.5, len(bins) - 0.5)
    axes.margins(y=0.12)
    axes.set_ylabel("F1")
    axes.set_xlabel(f"{TITLES[analysis.layer][by][1]} (second row: how many gold spans)")
    axes.grid(axis="y", color=PALETTES[theme].line, alpha=0.35)
    return handles


def _bars(
    analysis: LayerAnalysis, by: str, *, figure: Figure, axes: Axes, theme: Theme
) -> list[Any]:
    """A bar for each of the most frequent labels, the most frequent above.

    Returns:
        What stands for each system in a legend.
    """
    systems = analysis.systems
    first = systems[0].scores.by[by]
    shown = [label for label, match in first.items() if match.gold][:LABELS]
    thick = 0.8 / len(systems)
    handles: list[Any] = []
    for index, system in enumerate(systems):
        matches = system.scores.by[by]
        places = [place + thick * (index - (len(systems) - 1) / 2) for place in range(len(shown))]
        figures = [matches[label].f1 for label in shown]
        colour = _colour(index, theme)
        handles.append(axes.barh(places, figures, height=0.9 * thick, color=colour))
    axes.set_yticks(
        range(len(shown)),
        [f"{visible(label) or NO_LABEL}  {first[label].gold:,}" for label in shown],
    )
    figure.set_figheight(1.3 + max(2, len(shown)) * (0.16 + 0.12 * len(systems)))
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.set_xlabel("F1 (beside the labels: how many gold spans)")
    axes.grid(axis="x", color=PALETTES[theme].line, alpha=0.35)
    axes.set_axisbelow(True)
    return handles
