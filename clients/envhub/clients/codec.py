"""Codecs: a frame to and from what a connection carries, JSON text or msgpack bytes."""

from __future__ import annotations

import json
from typing import Any, Literal, Protocol

from pydantic_core import PydanticSerializationError, from_json, to_json

from envhub.sdk.errors import InvalidRequest
from envhub.sdk.messages import JsonObject
from envhub.sdk.wire import SUBPROTOCOLS

Encoding = Literal["json", "msgpack"]


class Codec(Protocol):
    """One way of writing frames."""

    subprotocol: str
    """The WebSocket subprotocol that asks for it."""

    def encode(self, frame: JsonObject) -> str | bytes:
        """What is sent for a frame.

        Raises:
            InvalidRequest: it holds something that cannot be written.
        """
        ...

    def decode(self, data: str | bytes) -> Any:
        """The frame in what was received.

        Raises:
            ValueError: it is not of this encoding.
        """
        ...


class JsonCodec:
    """JSON text frames."""

    subprotocol = SUBPROTOCOLS[0]

    def encode(self, frame: JsonObject) -> str:
        try:
            text = to_json(frame).decode()
        except (PydanticSerializationError, ValueError) as error:
            raise InvalidRequest(f"the request cannot be written as JSON: {error}") from error
        # pydantic_core writes non-finite numbers as bare words, which are not JSON. The words are rare, so look
        # for them first and check with the slow encoder only where one stands (it may be inside a string).
        if "NaN" in text or "Infinity" in text:
            _refuse_non_finite(text)
        return text

    def decode(self, data: str | bytes) -> Any:
        return from_json(data, allow_inf_nan=False)


def _refuse_non_finite(text: str) -> None:
    def refuse(word: str) -> None:
        raise InvalidRequest(f"the request holds {word}; JSON has no such number")

    json.loads(text, parse_constant=refuse)


class MsgpackCodec:
    """msgpack binary frames; needs msgspec, which `envhub[serve]` installs."""

    subprotocol = SUBPROTOCOLS[1]

    def __init__(self) -> None:
        try:
            from msgspec import msgpack
        except ImportError:
            raise InvalidRequest("encoding='msgpack' needs msgspec: pip install msgspec, or use 'json'") from None
        self._encoder, self._decoder = msgpack.Encoder(), msgpack.Decoder()

    def encode(self, frame: JsonObject) -> bytes:
        try:
            return self._encoder.encode(frame)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidRequest(f"the request cannot be written as msgpack: {error}") from error

    def decode(self, data: str | bytes) -> Any:
        # msgspec raises its own kind of ValueError.
        return self._decoder.decode(data.encode() if isinstance(data, str) else data)


def choose_codec(encoding: Encoding) -> Codec:
    """The codec of that name.

    Raises:
        InvalidRequest: no such encoding, or what it needs is not installed.
    """
    if encoding == "json":
        return JsonCodec()
    if encoding == "msgpack":
        return MsgpackCodec()
    raise InvalidRequest(f"no encoding {encoding!r}; there are 'json' and 'msgpack'")


__all__ = ["Codec", "Encoding", "JsonCodec", "MsgpackCodec", "choose_codec"]
