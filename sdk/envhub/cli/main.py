"""The composition root: `envhub`, also as `python -m envhub.cli.main`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the exit status is 0, 1 for a failure and 2 for wrong usage.

    The boundary at which envhub's own errors become a line or two; any other is a defect and keeps its traceback.
    """
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        print("envhub: the command line needs the extra `serve`: pip install 'envhub[serve]'", file=sys.stderr)
        raise SystemExit(1) from None
    from envhub.cli.app import make_app

    try:
        make_app()(prog_name="envhub")
    except Exception as error:
        from envhub.sdk.errors import EnvhubError  # late: most commands that cannot fail need no SDK

        if not isinstance(error, EnvhubError):
            raise
        from envhub.cli.output import report

        report(error, as_json="--json" in sys.argv)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()

__all__ = ["main"]
