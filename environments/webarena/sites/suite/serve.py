"""`python -m suite.serve`: the process that answers for all sites until its parent ends."""

import gc
import os
import sys
from typing import NoReturn, TextIO

from suite import config, lifeline
from suite.proxy import SitesProxy
from suite.server import serve_forever
from suite.warm import warm_up
from suite.wsgi import create_sites


def main() -> None:
    """Loads the applications, renders a few pages so that the workers share what that loads, and serves."""
    lifeline.tie_to_parent(os.getppid(), sys.stdin.fileno())
    with os.fdopen(os.dup(1), "w") as report:
        os.dup2(2, 1)  # nobody reads what applications print to stdout, and a full pipe would block them
        serve(report)


def serve(report: TextIO) -> NoReturn:
    """Answers for all sites; `report` is told the port."""
    configuration = config.load()
    sites = create_sites(configuration)
    warm_up(configuration, sites)
    gc.collect()
    gc.freeze()  # what is loaded stays: workers neither scan it again nor copy its pages by scanning
    serve_forever(SitesProxy(sites, configuration.sessions_dir, configuration.site_of_host), report)


if __name__ == "__main__":
    main()
