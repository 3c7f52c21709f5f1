"""Renders the start pages once before the workers fork, so that they share compiled templates and url tables."""

import io
import shutil
import tempfile
from pathlib import Path

from suite.config import SuiteConfig
from suite.context import RequestContext, serving
from suite.proxy import Application, Environ
from suite.seed.moments import LAST_MOMENT

PAGES = {
    "shop": ("/", "/catalogue/", "/accounts/login/", "/basket/"),
    "forum": ("/", "/search/", "/login/"),
    "wiki": ("/", "/_search/", "/_accounts/login/"),
}


def warm_up(configuration: SuiteConfig, sites: Application) -> None:
    """Requests each page from a copy of the seed that is removed afterwards.

    Raises:
        RuntimeError: a page fails, so the sites cannot be served.
    """
    with tempfile.TemporaryDirectory(dir=configuration.sessions_dir, prefix=".warm-") as name:
        shutil.copyfile(configuration.seed_dir / "db.sqlite3", Path(name) / "db.sqlite3")
        for site, paths in PAGES.items():
            for path in paths:
                with serving(RequestContext(Path(name), site, configuration.hosts[site]), LAST_MOMENT):
                    _get(sites, configuration.hosts[site], path)


def _get(sites: Application, host: str, path: str) -> None:
    answers: list[str] = []
    environ: Environ = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": host,
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": host,
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": io.StringIO(),
    }
    pages = sites(environ, lambda status, headers, exc_info=None: answers.append(status))
    try:
        b"".join(pages)
    finally:
        getattr(pages, "close", lambda: None)()
    if not answers or answers[0][0] not in "23":
        raise RuntimeError(f"http://{host}{path} answered {answers or 'nothing'} while the sites were starting")
