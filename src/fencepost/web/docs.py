"""A page about the server, made from its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Schema = Mapping[str, Any]
_REFERENCE = "#/components/schemas/"
_KINDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}


def docs_page(schema: Schema, address: str) -> str:
    """The page as HTML.

    Args:
        schema: what OpenAPI says of the server.
        address: where the server was found, with a slash at its end.
    """
    return "\n".join(_page(schema, address))


def _page(schema: Schema, address: str) -> Iterator[str]:
    info = schema["info"]
    title = escape(f"{info['title']} {info['version']}")
    routes = [
        (path, method, told)
        for path, methods in schema["paths"].items()
        for method, told in methods.items()
    ]
    routes.sort(key=lambda route: route[1] != "post")  # what most people come for
    models = schema["components"]["schemas"]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{title}: what programs can ask for</title>"
    yield '<link rel="stylesheet" href="docs.css"><link rel="icon" href="static/icon.svg">'
    yield f"</head>\n<body>\n<header><h1>{title}</h1>"
    yield f"<p>{escape(info.get('summary', ''))} What programs can ask for.</p>"
    yield '<nav aria-label="Pages"><ul>'
    yield '<li><a href="./">Page to explore with</a></li>'
    yield '<li><a href="openapi.json">OpenAPI</a></li></ul></nav></header>\n<main>'
    yield '<nav aria-label="Contents"><ul>'
    for path, method, told in routes:
        yield f'<li><a href="#{_name(path)}"><code>{method.upper()} {escape(path)}</code></a> '
        yield f"{escape(told['summary'])}</li>"
    yield "</ul></nav>"
    for path, method, told in routes:
        yield from _route(path, method, told, address=address)
    yield "<h2>What answers are made of</h2>"
    for name, model in models.items():
        yield f'<section id="{escape(name)}"><h3>{escape(name)}</h3>'
        yield f"<p>{escape(model.get('description', ''))}</p>"
        yield from _fields(model)
        yield "</section>"
    yield "</main>\n</body>\n</html>\n"


def _route(path: str, method: str, told: Schema, *, address: str) -> Iterator[str]:
    yield f'<section id="{_name(path)}"><h2><code>{method.upper()} {escape(path)}</code></h2>'
    yield f"<p><strong>{escape(told['summary'])}.</strong> {_text(told.get('description', ''))}</p>"
    if told.get("security"):
        yield "<p>Send the server’s token along, in the header <code>Authorization</code>.</p>"
    asked = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    yield "<h3>For example</h3>"
    examples = asked["examples"] if asked else [None]
    for example in examples:
        yield f"<pre><code>{escape(_curl(address + path[1:], told, example))}</code></pre>"
    if asked:
        yield "<h3>What to send</h3>"
        yield from _fields(asked)
    yield "<h3>What comes back</h3><dl>"
    for status, answer in told["responses"].items():
        kinds = [_type(one.get("schema", {})) for one in answer.get("content", {}).values()]
        yield f"<dt>{escape(status)} {' '.join(kinds)}</dt>"
        yield f"<dd>{escape(answer['description'].replace('Successful Response', 'All is well.'))}"
        yield "</dd>"
    yield "</dl></section>"


def _curl(url: str, told: Schema, example: object) -> str:
    """The command that asks."""
    parts = [f"curl {url}"]
    if told.get("security"):
        parts.append('-H "Authorization: Bearer $FENCEPOST_TOKEN"')
    if example is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(example)}'"]
    return " \\\n  ".join(parts)


def _fields(model: Schema) -> Iterator[str]:
    """A table of what an object has."""
    needed = model.get("required", ())
    yield '<div class="wide" role="region" aria-label="Fields" tabindex="0"><table>'
    yield "<thead><tr><th>Field</th><th>Type</th><th>Default</th><th>Meaning</th></tr></thead>"
    yield "<tbody>"
    for name, field in model.get("properties", {}).items():
        default = (
            "" if name in needed else f"<code>{escape(json.dumps(field.get('default')))}</code>"
        )
        yield f"<tr><td><code>{escape(name)}</code></td><td>{_type(field)}</td><td>{default}</td>"
        yield f"<td>{escape(field.get('description', ''))}{_range(field)}</td></tr>"
    yield "</tbody></table></div>"


def _range(field: Schema) -> str:
    """The numbers that a field takes."""
    if "minimum" not in field or "maximum" not in field:
        return ""
    return f" From {field['minimum']:g} to {field['maximum']:g}."


def _type(schema: Schema) -> str:
    """What a value is, in words.

    >>> _type({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of (text) or null'
    >>> _type({"$ref": "#/components/schemas/Problem"})
    '<a href="#Problem">Problem</a>'
    """
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REFERENCE))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return " or ".join(_type({"type": one}) for one in kind)
    if "prefixItems" in schema:
        return f"[{', '.join(map(_type, schema['prefixItems']))}]"
    if kind == "array":
        return f"list of ({_type(schema['items'])})"
    if kind == "object":
        return f"object of ({_type(schema.get('additionalProperties', {}))})"
    return escape(_KINDS.get(kind) or str(kind))


def _text(markdown: str) -> str:
    """The paragraphs of a docstring."""
    return "</p>\n<p>".join(escape(" ".join(part.split())) for part in markdown.split("\n\n"))


def _name(path: str) -> str:
    """How a route is called in a link.

    >>> _name("/v1/parse")
    'v1-parse'
    """
    return path.strip("/").replace("/", "-")
