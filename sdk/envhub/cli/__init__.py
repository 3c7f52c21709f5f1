"""The `envhub` command: one file a command group, libraries imported only where a command needs them."""

__all__: list[str] = []
