"""The FastAPI application: its routes, and their way from a request to an answer."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

import fastapi_swagger
from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from fencepost.checkpoints.shipped import DEFAULT
from fencepost.errors import FencepostError
from fencepost.parser.parser import Parser
from fencepost.run.browser import POLICY
from fencepost.search import Pattern
from fencepost.structure import Document
from fencepost.tasks.layers import POINTING
from fencepost.web.answers import answer
from fencepost.web.batches import Batches, Ticket
from fencepost.web.errors import RefusedError, busy, ended, invalid, refusal, validation_message
from fencepost.web.jobs import Answered, Job, job_of
from fencepost.web.metrics import CONTENT_TYPE, Metrics
from fencepost.web.middleware import Guarded, check_token, check_type, read_body
from fencepost.web.schemas import (
    ErrorAnswer,
    HealthAnswer,
    LimitsAnswer,
    ModelAnswer,
    ModelsAnswer,
    ParseAnswer,
    ParseRequest,
    RequestBase,
    SearchAnswer,
    SearchRequest,
)
from fencepost.web.search import documents_of, search_answer, search_job
from fencepost.web.settings import (
    MOST_BEAMS,
    MOST_MATCHES,
    MOST_PHRASES,
    MOST_READINGS,
    MOST_SPANS,
    Settings,
)

STATIC = Path(__file__).parent / "static"
SWAGGER = Path(fastapi_swagger.__file__).parent / "resources"
POLL = 0.5  # seconds between checks whether the server is shutting down

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_Responses = dict[int | str, dict[str, Any]]  # by status, for FastAPI's schema
_UNKNOWN = {"model": ErrorAnswer, "description": "The token is missing or wrong."}
_ANYWHERE: _Responses = {
    400: {"model": ErrorAnswer, "description": "The server does not answer to the name in Host."},
    503: {
        "model": ErrorAnswer,
        "description": "Too many requests at a time; try again later.",
    },
}
_REFUSALS: _Responses = {
    408: {"model": ErrorAnswer, "description": "The request did not arrive in time."},
    413: {"model": ErrorAnswer, "description": "The request has too many bytes."},
    415: {"model": ErrorAnswer, "description": "The request is not declared as JSON."},
    422: {"model": ErrorAnswer, "description": "The request is invalid or too large."},
    500: {"model": ErrorAnswer, "description": "The server failed; its log has details."},
    503: {"model": ErrorAnswer, "description": "Too many requests are waiting; try again later."},
}


# Only for the schema: `check_token` reads the header itself, so that all refusals have one form.
_BEARER = HTTPBearer(auto_error=False, description="The token that the server was started with.")
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def make_app(parser: Parser, settings: Settings | None = None, *, model: str = DEFAULT) -> FastAPI:
    """The application around a parser.

    At the end of its lifespan it finishes waiting requests; test clients need no lifespan.

    Args:
        parser: the parser, not to be used by anything else.
        settings: the limits of the server.
        model: the name of the parser's model.
    """
    settings = settings or Settings()
    batches = Batches(parser, settings, parsed=lambda jobs: _count(metrics, jobs))
    metrics = Metrics(lambda: batches.waiting)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        batches.open()
        yield
        await asyncio.to_thread(batches.close)

    app = FastAPI(
        title="fencepost",
        summary="Constituency trees and nested entities.",
        version=version("fencepost"),
        docs_url=None,  # FastAPI's own pages load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.batches, app.state.metrics, app.state.settings = batches, metrics, settings
    app.add_middleware(Guarded, hosts=settings.hosts, most=settings.max_requests, metrics=metrics)
    _refuse(app, metrics)
    app.include_router(_open_routes(batches, model))
    app.include_router(_guarded_routes(parser, batches, metrics, settings=settings, model=model))
    app.include_router(_pages())
    # FastAPI's own page loads Swagger UI from another host, and has an inline script.
    app.mount("/swagger", _Pages(directory=SWAGGER), name="swagger")
    if STATIC.is_dir():
        app.mount("/static", _Pages(directory=STATIC), name="static")
    if settings.local is not None:
        app.mount("/local", _LocalPages(directory=settings.local, html=True), name="local")
    return app


def _count(metrics: Metrics, jobs: Sequence[Job]) -> None:
    metrics.batch_requests.observe(len(jobs))
    metrics.batch_words.observe(sum(job.words for job in jobs))
    metrics.words.inc(sum(job.words for job in jobs))
    metrics.sentences.inc(sum(job.sentences for job in jobs))


def _refuse(app: FastAPI, metrics: Metrics) -> None:
    """Give all errors the same form."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        metrics.refused.labels(error.reason).inc()
        return error.response()

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return refusal(error.status_code, _message(request, error), headers=error.headers)

    async def failed(request: Request, error: Exception) -> Response:
        return refusal(500, "the server has failed; its log tells more")

    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, failed)


def _message(request: Request, error: HTTPException) -> str:
    """The message for a request without a route."""
    path = request.url.path
    if error.status_code == 404:
        return f"there is nothing at {path}; /docs tells what there is"
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        return f"{path} takes {allowed}, not {request.method}"
    return error.detail


def _open_routes(batches: Batches, model: str) -> APIRouter:
    router = APIRouter(tags=["server"], responses=_ANYWHERE)

    @router.head("/health", include_in_schema=False)
    @router.get("/health", summary="Whether the server is there")
    async def health() -> HealthAnswer:
        """Answers at once, also while a long text is parsed."""
        return HealthAnswer(
            status="closing" if batches.is_closing else "ok", model=model, waiting=batches.waiting
        )

    return router


def _guarded_routes(
    parser: Parser, batches: Batches, metrics: Metrics, *, settings: Settings, model: str
) -> APIRouter:
    async def knows_token(request: Request, credentials: _Credentials) -> None:
        check_token(request.headers.get("authorization"), settings.token)

    async def read(request: Request) -> bytes:
        check_type(request.headers.get("content-type"))
        body = read_body(request, most=settings.max_body, seconds=settings.max_upload)
        return await _unless(lambda: batches.is_closing, body)

    async def parsed(request: Request, job: Job) -> list[Answered]:
        answers = _answers(request, batches, batches.submit(job))
        return await _unless(lambda: batches.is_over, answers)

    guards = [] if settings.token is None else [Depends(knows_token)]
    unknown: _Responses = {401: _UNKNOWN} if guards else {}
    router = APIRouter(dependencies=guards, responses=_ANYWHERE)

    @router.post(
        "/v1/parse",
        tags=["parse"],
        summary="The trees and entities of texts or words",
        response_model=ParseAnswer,
        response_model_exclude_none=True,
        responses={**unknown, **_REFUSALS},
        openapi_extra=_body_of(ParseRequest),
    )
    async def parse(request: Request) -> Response:
        """One document for each input, in order.

        An input that could not be parsed has the reason as its status, and no sentences; the answer
        is still 200. Requests that arrive at the same time are parsed together.
        """
        data = await read(request)
        with batches.place():
            options, job = await asyncio.to_thread(_parse_job, parser, data, settings)
            write = partial(answer, probabilities=options.probabilities, draw=options.draw)
            body = await asyncio.to_thread(write, model, await parsed(request, job))
        return Response(body, media_type="application/json")

    @router.post(
        "/v1/search",
        tags=["parse"],
        summary="The nodes of trees that match a pattern",
        response_model=SearchAnswer,
        response_model_exclude_none=True,
        responses={**unknown, **_REFUSALS},
        openapi_extra=_body_of(SearchRequest),
    )
    async def search(request: Request) -> Response:
        """Matches in order, in parsed documents or in texts and words.

        A pattern that cannot be read is refused with the place and what was expected there.
        """
        data = await read(request)
        with batches.place():
            query, pattern, source = await asyncio.to_thread(_search_query, parser, data, settings)
            if isinstance(source, Job):
                source = [one.document for one in await parsed(request, source)]
            body = await asyncio.to_thread(_matches, source, query, pattern, settings)
        return Response(body, media_type="application/json")

    @router.get(
        "/v1/models",
        tags=["parse"],
        summary="The model and the limits of requests",
        responses=unknown,
    )
    async def models() -> ModelsAnswer:
        """The model with its tasks and labels, and the limits of a request."""
        return ModelsAnswer(models=[_model(parser, model)], limits=_limits(settings))

    @router.get(
        "/metrics",
        tags=["server"],
        summary="Counts for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **unknown},
    )
    async def counts() -> Response:
        """Requests, seconds, words, sizes of batches, refusals."""
        return Response(metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return router


def _body_of(request: type[BaseModel]) -> dict[str, Any]:
    """The body of a request for the schema, which FastAPI does not read by itself."""
    content = {"application/json": {"schema": request.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


@contextmanager
def _invalid_requests() -> Iterator[None]:
    """Refuse a request because of errors in it."""
    try:
        yield
    except ValidationError as error:
        raise invalid(validation_message(error)) from None
    except FencepostError as error:
        raise invalid(str(error)) from None


@_invalid_requests()
def _parse_job(parser: Parser, data: bytes, settings: Settings) -> tuple[RequestBase, Job]:
    """A request to parse, and its job."""
    request = ParseRequest.model_validate_json(data)
    return request, job_of(parser, request, settings)


@_invalid_requests()
def _search_query(
    parser: Parser, data: bytes, settings: Settings
) -> tuple[SearchRequest, Pattern, Job | list[Document]]:
    """A request to search, its pattern, and the documents to search, or the job to parse them."""
    request = SearchRequest.model_validate_json(data)
    pattern = Pattern(request.pattern)
    documents = documents_of(request, settings)
    if documents is None:
        return request, pattern, search_job(parser, request, pattern, settings)
    return request, pattern, documents


_matches = _invalid_requests()(search_answer)


async def _unless(is_over: Callable[[], bool], awaited: Coroutine[Any, Any, _Result]) -> _Result:
    """Await a coroutine, unless the server is over meanwhile."""
    task = asyncio.create_task(awaited)
    try:
        while not (await asyncio.wait({task}, timeout=POLL))[0]:
            if is_over():
                raise ended()
        return task.result()
    finally:
        task.cancel()


async def _answers(request: Request, batches: Batches, ticket: Ticket) -> list[Answered]:
    """Await the parser's answer, unless the wait is too long or the client disconnects."""
    answered = asyncio.wrap_future(ticket.answer)
    gone = asyncio.create_task(_disconnect(request))
    both: set[asyncio.Future[Any]] = {answered, gone}
    seconds = batches.settings.max_wait
    try:
        done, _ = await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done and batches.withdraw(ticket):
            raise busy(f"the request has waited for {seconds:g} seconds", reason="wait")
        if not done:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            raise RefusedError(499, "the client has gone", reason="gone")
        return answered.result()
    except (RefusedError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise RefusedError(
            500, f"could not be parsed: {type(error).__name__}", reason="failed"
        ) from error
    finally:
        gone.cancel()
        if not answered.done():
            batches.forget(ticket)
            answered.cancel()


async def _disconnect(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _model(parser: Parser, name: str) -> ModelAnswer:
    labels = {layer: list(known) for layer, known in parser.labels.items() if layer in POINTING}
    return ModelAnswer(
        name=name, tasks=list(parser.tasks), labels=labels, max_words=parser.max_words
    )


def _limits(settings: Settings) -> LimitsAnswer:
    return LimitsAnswer(
        body=settings.max_body,
        words=settings.max_words,
        inputs=settings.max_inputs,
        close_words=settings.max_close_words,
        beam_words=settings.max_beam_words,
        wait=settings.max_wait,
        n_best=MOST_READINGS,
        beams=MOST_BEAMS,
        spans=MOST_SPANS,
        phrases=MOST_PHRASES,
        matches=MOST_MATCHES,
    )


class _Pages(StaticFiles):
    """Files of the page, which browsers cache and revalidate each time."""

    headers: Mapping[str, str] = {"Cache-Control": "no-cache"}

    async def get_response(self, path: str, scope: Any) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(self.headers)
        return response


class _LocalPages(_Pages):
    """A page that parses in the browser, with WebAssembly and threads that share memory.

    Browsers allow shared memory only to pages that are isolated from other origins.
    """

    headers: Mapping[str, str] = {
        **_Pages.headers,
        "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
    }


def _pages() -> APIRouter:
    """The pages, which are not part of the schema."""
    router = APIRouter(include_in_schema=False)
    files = _Pages(directory=STATIC, check_dir=False)

    async def page(request: Request, name: str) -> Response:
        if not STATIC.is_dir():
            raise HTTPException(404)
        return await files.get_response(name, request.scope)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return await page(request, "index.html")

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def docs(request: Request) -> Response:
        return await page(request, "docs.html")

    @router.api_route("/local", methods=["GET", "HEAD"])
    async def local(request: Request) -> Response:
        if request.app.state.settings.local is None:
            raise HTTPException(404)
        return RedirectResponse("local/")  # relative, for proxies that have it below a path

    @router.api_route("/static/drawing.css", methods=["GET", "HEAD"])
    async def drawing_style(request: Request) -> Response:
        from fencepost.drawing.html import STYLE

        body = STYLE.encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}  # browsers revalidate it each time
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="text/css", headers=headers)

    return router
