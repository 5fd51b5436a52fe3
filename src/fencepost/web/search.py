"""Search requests: patterns in documents of the request, or in texts parsed for it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from fencepost.errors import DataError
from fencepost.parser.parser import Parser
from fencepost.run.search import tasks_of
from fencepost.search import Match, Node, Pattern
from fencepost.structure import Document
from fencepost.web.errors import invalid
from fencepost.web.jobs import Job, job_of, size_of
from fencepost.web.schemas import ParseRequest, SearchRequest
from fencepost.web.settings import Settings


def documents_of(request: SearchRequest, settings: Settings) -> list[Document] | None:
    """The documents in a request; None if it has texts or words to parse.

    Raises:
        RefusedError: the documents have too many words.
        DataError: they are not documents.
    """
    if request.documents is None:
        return None
    if len(request.documents) > settings.max_inputs:
        raise invalid(f"documents: at most {settings.max_inputs:,}, not {len(request.documents):,}")
    documents = [Document.from_dict(one) for one in request.documents]
    words = sum(size_of(parse.sentence) for one in documents for parse in one.sentences)
    if words > settings.max_words:
        raise invalid(f"a request has at most {settings.max_words:,} words, not {words:,}")
    return documents


def search_job(parser: Parser, request: SearchRequest, pattern: Pattern, settings: Settings) -> Job:
    """The job that parses what a search needs: only the layers of its pattern."""
    tasks = tasks_of(pattern, request.layer)
    inputs = {name: getattr(request, name) for name in ("text", "words", "inputs")}
    return job_of(parser, ParseRequest.model_validate({"tasks": tasks, **inputs}), settings)


def search_answer(
    documents: Sequence[Document], request: SearchRequest, pattern: Pattern, settings: Settings
) -> bytes:
    """The answer to a search as JSON.

    Raises:
        RefusedError: the search takes too long.
        DataError: a sentence lacks the layer.
    """
    matches = list(islice(_matches(documents, request, pattern, settings), request.limit + 1))
    data = {
        "matches": matches[: request.limit],
        "more": len(matches) > request.limit,
        "statuses": [one.status for one in documents],
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")


def _matches(
    documents: Sequence[Document], request: SearchRequest, pattern: Pattern, settings: Settings
) -> Iterator[dict[str, Any]]:
    end = time.monotonic() + settings.max_search
    for number, document in enumerate(documents):
        for index, parse in enumerate(document.sentences):
            if time.monotonic() > end:
                raise invalid(
                    f"the search has taken {settings.max_search:g} seconds; a simpler pattern, or "
                    "less to search, was expected"
                )
            try:
                for match in parse.find(pattern, layer=request.layer):
                    yield {"document": number, "sentence": index, **_plain(match)}
            except DataError as error:
                raise DataError(f"document {number}, sentence {index}: {error.message}") from None


def _plain(match: Match) -> dict[str, Any]:
    names = {name: _plain_node(node) for name, node in match.names.items()}
    return {**_plain_node(match.node), "names": names}


def _plain_node(node: Node) -> dict[str, Any]:
    values = {
        "label": node.label,
        "kind": node.kind,
        "start": node.start,
        "end": node.end,
        "start_char": node.start_char,
        "end_char": node.end_char,
        "text": node.text,
        "probability": node.probability,
    }
    return {key: value for key, value in values.items() if value is not None}
