"""The forward proxy of every browser context, as a WSGI application around the sites.

A request names its session by proxy credentials, which no page can read, and its site by an absolute address.
Whatever is not a page of the sites is refused here, so that a browser reaches nothing else.
"""

import base64
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from suite import context, session_files
from suite.session_files import OpenSession

Environ = dict[str, object]
StartResponse = Callable[..., object]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Response = tuple[str, list[tuple[str, str]], bytes]

MAX_BODY_BYTES = 2 * 1024 * 1024
_UNSAFE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KNOWN_METHODS = _UNSAFE_METHODS | {"GET", "HEAD", "OPTIONS"}
_PAGE = "<!doctype html><html lang=en><title>{0}</title><h1>{0}</h1><p>{1}</p></html>\n"


def page(status: str, text: str) -> Response:
    """A small page of the proxy itself."""
    body = _PAGE.format(status.partition(" ")[2], text).encode()
    return status, [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")], body


def credentials(header: str) -> tuple[str, str]:
    """Name and password of a Basic proxy authorization, empty strings if there is none."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # not base64, or not text
        return "", ""
    return name, password


def split_target(target: str) -> SplitResult | None:
    """The parts of an absolute address, None if it is not one that could be a site's (http, port 80, no user)."""
    try:
        parts = urlsplit(target)
        plain = parts.scheme == "http" and parts.port in (None, 80) and "@" not in parts.netloc
    except ValueError:
        return None
    return parts if plain and parts.hostname else None


class SitesProxy:
    """Authenticates, refuses or dispatches each request, and writes the session's trace."""

    def __init__(self, sites: Application, sessions_dir: Path, site_of_host: dict[str, str]) -> None:
        self._sites = sites
        self._sessions_dir = sessions_dir
        self._site_of_host = site_of_host

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started_ns = time.monotonic_ns()
        session, (status, headers, body) = self._answer(environ)
        if session is not None:
            session.record({
                "started_ns": started_ns,
                "method": str(environ["REQUEST_METHOD"]),
                "url": str(environ["REQUEST_URI"]),
                "status": int(status[:3]),
                "duration_ms": round((time.monotonic_ns() - started_ns) / 1e6, 3),
                "bytes": len(body),
            })  # fmt: skip
        start_response(status, headers)
        return [body]

    def _answer(self, environ: Environ) -> tuple[OpenSession | None, Response]:
        header = str(environ.pop("HTTP_PROXY_AUTHORIZATION", ""))
        target = str(environ["REQUEST_URI"])
        if target.startswith(("/", "*")):
            return None, page("403 Forbidden", "This server answers proxy requests only.")
        session = session_files.authenticate(self._sessions_dir, *credentials(header))
        if session is None:
            return None, page("407 Proxy Authentication Required", "This proxy needs a session's credentials.")
        return session, self._serve(session, target, environ)

    def _serve(self, session: OpenSession, target: str, environ: Environ) -> Response:
        method = str(environ["REQUEST_METHOD"])
        parts = None if method == "CONNECT" else split_target(target)
        site = self._site_of_host.get(parts.hostname or "") if parts else None
        if parts is None or site is None:
            return page("403 Forbidden", "This address is not reachable in this environment.")
        if method not in _KNOWN_METHODS:
            return page("405 Method Not Allowed", "This method is not supported.")
        if int(str(environ.get("CONTENT_LENGTH") or 0)) > MAX_BODY_BYTES:
            return page("413 Content Too Large", f"A request may carry at most {MAX_BODY_BYTES} bytes.")
        host = str(parts.hostname)
        environ.update(HTTP_HOST=host, SERVER_NAME=host, SERVER_PORT="80")
        environ["wsgi.url_scheme"] = "http"
        try:
            moment = session.moment(advance=method in _UNSAFE_METHODS)
        except FileNotFoundError:
            return _closed()
        with context.serving(context.RequestContext(session.directory, site, host), moment):
            response = _collect(self._sites, environ)
        return _closed() if response[0].startswith("500") and not session.directory.is_dir() else response


def _closed() -> Response:
    return page("503 Service Unavailable", "The session has been closed.")


def _collect(application: Application, environ: Environ) -> Response:
    """Runs a WSGI application to its end; pages are small, and the trace needs their size before they are sent."""
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        started.append((status, headers))

    result = application(environ, start_response)
    try:
        body = b"".join(result)
    finally:
        close = getattr(result, "close", None)
        if close is not None:
            close()
    return (*started[-1], body)
