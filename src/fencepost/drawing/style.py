"""The style sheet of pages: colours as custom properties, for light, dark and print."""

from __future__ import annotations

from fencepost.drawing.colours import KINDS, PALETTES
from fencepost.drawing.markup import FONTS


def _properties(theme: str) -> str:
    palette = PALETTES[theme]
    properties = [
        f"color-scheme:{theme}",
        f"--fencepost-paper:{palette.paper}",
        f"--fencepost-ink:{palette.ink}",
        f"--fencepost-muted:{palette.muted}",
        f"--fencepost-line:{palette.line}",
    ]
    for index in range(KINDS):
        properties.append(f"--fencepost-label-{index}:{palette.labels[index]}")
        properties.append(f"--fencepost-border-{index}:{palette.borders[index]}")
        properties.append(f"--fencepost-fill-{index}:{palette.fills[index]}")
    return ";".join(properties)


def _style() -> str:
    light, dark = _properties("light"), _properties("dark")
    kinds = "\n".join(
        f".fencepost .kind-{index}{{--fencepost-label:var(--fencepost-label-{index});"
        f"--fencepost-border:var(--fencepost-border-{index});"
        f"--fencepost-fill:var(--fencepost-fill-{index})}}"
        for index in range(KINDS)
    )
    return f"""
.fencepost{{{light}}}
@media screen and (prefers-color-scheme:dark){{.fencepost{{{dark}}}}}
[data-theme=light] .fencepost,[data-jp-theme-light=true] .fencepost{{{light}}}
@media screen{{[data-theme=dark] .fencepost,[data-jp-theme-light=false] .fencepost{{{dark}}}}}
{kinds}
.fencepost .ink{{fill:var(--fencepost-ink)}}
.fencepost .muted{{fill:var(--fencepost-muted)}}
.fencepost .edge{{stroke:var(--fencepost-line)}}
.fencepost text.label{{fill:var(--fencepost-label)}}
.fencepost .fill{{fill:var(--fencepost-fill)}}
.fencepost .border{{stroke:var(--fencepost-border)}}
.fencepost-sheet{{background:var(--fencepost-paper);color:var(--fencepost-ink);font-family:{FONTS};\
font-size:15px;padding:.5em .75em;border-radius:6px;margin:.25em 0}}
.fencepost-sheet .wide{{overflow-x:auto}}
.fencepost-sheet .wide svg{{display:block}}
.fencepost-sheet section+section{{margin-top:1em;padding-top:1em;\
border-top:1px solid var(--fencepost-line)}}
.fencepost-sheet .boxes{{margin:.25em 0;line-height:calc(2em + var(--levels,0)*.7em)}}
.fencepost-sheet .boxes mark{{background:var(--fencepost-fill);color:inherit;\
border:1px solid var(--fencepost-border);border-radius:4px;margin:0 1px;\
padding:calc(.2em + var(--inside,0)*.35em) .35em;-webkit-box-decoration-break:slice;\
box-decoration-break:slice}}
.fencepost-sheet .boxes mark.unsure{{border-style:dashed}}
.fencepost-sheet .boxes .label{{color:var(--fencepost-label);font-size:.68em;font-weight:600;\
margin-inline-start:.6em;unicode-bidi:isolate;vertical-align:.08em}}
.fencepost-sheet .note{{color:var(--fencepost-muted);font-size:.87em;margin:.25em 0}}
.fencepost-sheet .note ul{{margin:0;padding-inline-start:1.5em}}
"""


STYLE = _style()
