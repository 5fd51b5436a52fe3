"""The command `serve`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from fencepost.cli import options as opt
from fencepost.errors import ConfigError

_EXTRA = ("fastapi", "fastapi_swagger", "prometheus_client", "starlette", "uvicorn")


def serve(
    model: opt.ModelName = "en-small",
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0: wherever others can reach this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Which port; 0: any that is free.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="FENCEPOST_TOKEN",
            show_default=False,
            help="Answer only who knows it. Others on this machine can see options: rather set "
            "the variable, or use --token-file.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file that holds the token.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name that browsers and proxies call it by, beside localhost."
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request, at most.")] = 2**20,
    max_words: Annotated[int, typer.Option(min=1, help="Words of a request, at most.")] = 20_000,
    max_sentence: Annotated[int, typer.Option(min=1, help="Words of a sentence, at most.")] = 2_000,
    max_wait: Annotated[
        float, typer.Option(min=0.1, help="Seconds after which who still waits is refused.")
    ] = 10.0,
    queue: Annotated[int, typer.Option(min=1, help="Requests at a time, at most.")] = 64,
    device: opt.Device = "cpu",
    local: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A page that export-web has written: at /local, it parses in the browser.",
        ),
    ] = None,
    backend: opt.Backend = "auto",
    precision: opt.Precision = "fp32",
    threads: opt.Threads = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log each request.")] = False,
    quiet: opt.Quiet = False,
) -> None:
    """Answer requests with parses, and show a page to explore them.

    A browser shows the page, /docs tells of all that programs can ask for, and POST /v1/parse
    answers with JSON. Requests that come in together are parsed together. Ctrl-C ends it, when
    those that wait have been answered; a second one at once.

    Examples:
      fencepost serve
      fencepost serve --port 0 --max-words 5000
      fencepost serve --local page
      FENCEPOST_TOKEN=secret fencepost serve --host 0.0.0.0 --allow-host a.org
      curl localhost:8000/v1/parse --json '{"text": "It slept."}'
    """
    secret = _token(token, token_file)
    try:
        from fencepost.web.app import make_app
        from fencepost.web.middleware import THIS_MACHINE
        from fencepost.web.server import address_of, is_this_machine, listen
        from fencepost.web.server import serve as run
        from fencepost.web.settings import Settings
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        raise ConfigError(
            f'serve needs {error.name}, which is not here: pip install "fencepost[serve]"'
        ) from error
    from fencepost.parser.parser import load
    from fencepost.run.browser import is_page

    if local is not None and not is_page(local):
        raise ConfigError(f"--local {local}: no page that fencepost export-web has written")
    is_here = is_this_machine(host)
    names = (*THIS_MACHINE, host, *(allow_host or ())) if is_here else tuple(allow_host or ())
    settings = Settings(
        max_body=max_body,
        max_words=max_words,
        max_wait=max_wait,
        queue=queue,
        token=secret,
        hosts=names or None,
        local=local,
    )
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    if not is_here and secret is None:
        _note(f"anybody who can reach {host} may use this server; a token would keep others out")
    with listen(host, port) as listening:
        parser = load(
            model,
            device=device,
            threads=threads,
            max_words=max_sentence,
            backend=backend,
            precision=precision,
        )
        app = make_app(parser, settings, model=Path(model).name)
        if not quiet:
            _note(f"listening at {address_of(listening, host)} (Ctrl-C ends)")
        run(app, listening, closing=settings.closing, verbose=verbose)


def _token(given: str | None, file: Path | None) -> str | None:
    """The token, wherever it stands."""
    if file is not None:
        if given is not None:
            raise ConfigError("--token and --token-file: one of them, not both")
        try:
            given = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"--token-file {file}: cannot be read: {reason}") from error
    if given is None:
        return None
    token = given.strip()
    if not token:
        raise ConfigError("the token is empty; without one, everybody may ask")
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(
            "the token has characters that a header cannot hold; take letters and digits: "
            "python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return token


def _note(text: str) -> None:
    print(f"fencepost: {text}", file=sys.stderr, flush=True)
