"""What goes wrong with the sites: they cannot be built, do not start, or have ended."""

from envhub.sdk.errors import EnvironmentFailed


class SitesError(EnvironmentFailed):
    """The sites' process or its seed failed; sessions on it cannot go on."""

    code = "sites"
