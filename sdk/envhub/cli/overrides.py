"""`--config key=value`: changes to what the manifests' [config] tables say."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Any

from envhub.sdk.errors import InvalidRequest
from envhub.sdk.manifest import Manifest


def parse_overrides(pairs: Sequence[str], manifests: Sequence[Manifest]) -> dict[str, Any]:
    """Overrides by key: values are JSON, anything else is text.

    Raises:
        InvalidRequest: no `=`, or a key that one of the environments does not have.
    """
    overrides: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequest(f"--config {pair}: write key=value")
        for manifest in manifests:
            _check_key(key, manifest)
        overrides[key] = _value(value)
    return overrides


def _check_key(key: str, manifest: Manifest) -> None:
    known = list(manifest.config)
    first = key.partition(".")[0]
    if first in known:
        return
    near = difflib.get_close_matches(first, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known) or 'none'}"
    raise InvalidRequest(f"--config {key}: {manifest.name} has no such key in its [config]; {hint}")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


__all__ = ["parse_overrides"]
