"""When the seed's story begins and ends; sessions start after it."""

from datetime import UTC, datetime

FIRST_MOMENT = datetime(2025, 1, 6, 8, 0, tzinfo=UTC)
LAST_MOMENT = datetime(2025, 6, 16, 9, 0, tzinfo=UTC)
