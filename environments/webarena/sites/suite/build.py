"""`python -m suite.build`: makes the seed: tables, content, static files; reports each stage as a JSON line."""

import io
import json
import os
import sys

from django.core.management import call_command
from django.db import connection, transaction

from suite import clock, config, lifeline
from suite.seed.moments import FIRST_MOMENT
from suite.wsgi import load_applications


def report(stage: str) -> None:
    """Tells the parent what comes next."""
    print(json.dumps({"progress": stage}), flush=True)


def main() -> None:
    """Fills the configured, empty seed directory."""
    lifeline.tie_to_parent(os.getppid(), sys.stdin.fileno())
    report("loading the applications")
    load_applications()
    from suite.seed import story  # its models can be imported only now

    with clock.at(FIRST_MOMENT):
        report("creating the tables")
        call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
        with transaction.atomic():
            story.fill(report)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_size = 1024")  # half the bytes: most tables and indices are almost empty,
        cursor.execute("VACUUM")  # and every session copies this file
    report("collecting the static files")
    call_command("collectstatic", verbosity=0, interactive=False, stdout=io.StringIO())
    print(json.dumps({"built": str(config.load().seed_dir)}), flush=True)


if __name__ == "__main__":
    main()
