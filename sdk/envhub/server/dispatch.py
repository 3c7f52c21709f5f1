"""Dispatch: from a request frame to its reply, for WebSocket frames and batch items of either transport.

It checks who may do what: the server token for what concerns the server, and for a session its token, or having been
attached on this connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import msgspec

from envhub.sdk.errors import EnvhubError, Forbidden, InvalidRequest, ServerError, TooLarge
from envhub.server.operations import Operations
from envhub.server.outcome import Outcome, to_json
from envhub.server.session import Session

Frame = dict[str, Any]
Reply = Callable[[bytes], None]
"""Called once, with `"ok":…` or `"error":…`."""

_SESSION_OPS = ("get", "renew", "close", "trajectory")
_SERVER_OPS = ("info", "schema", "tasks", "open")
_OPS = (*_SERVER_OPS, "attach", "step", *_SESSION_OPS, "batch")
_ATTACHED_AT_LEAST = 1024
_NOT_IN_BATCH = ("batch", "attach", "get")


class Dispatcher:
    """Answers frames for one connection, or for one batch request.

    Args:
        operations: what to call.
        may_open: the caller showed the server token.
    """

    def __init__(self, operations: Operations, *, may_open: bool) -> None:
        self._operations = operations
        self._may_open = may_open
        self._attached: set[str] = set()
        self._prune_at = _ATTACHED_AT_LEAST
        self._tasks: set[asyncio.Task[None]] = set()

    def dispatch(self, frame: Frame, size: int, reply: Reply) -> None:
        """Start what a frame asks for. `size`: bytes its JSON has at most.

        The boundary at which a bug becomes a typed error of that one frame.
        """
        try:
            self._start(frame.pop("op", None), frame, size, reply)
        except EnvhubError as error:
            reply(failure(error))
        except Exception as error:
            reply(failure(ServerError(f"the operation failed: {type(error).__name__}: {error}")))

    def _start(self, op: Any, frame: Frame, size: int, reply: Reply) -> None:
        if op == "step":
            self._step(frame, size, reply)
        elif op == "batch":
            self._batch(frame, size, reply)
        elif op in _SESSION_OPS:
            self._spawn(self._on_session(op, self._session(frame), frame), reply)
        elif op in _SERVER_OPS:
            self._spawn(self._on_server(op, frame), reply)
        elif op == "attach":
            reply(self._attach(frame))
        else:
            raise InvalidRequest(f"no operation {op!r}; there are {', '.join(_OPS)}")

    def stop(self) -> None:
        """Drop what is waited for here. Sessions and their steps go on."""
        for task in self._tasks:
            task.cancel()

    def _step(self, frame: Frame, size: int, reply: Reply) -> None:
        session = self._session(frame)
        index, action = frame.pop("index", None), frame.pop("action", None)
        if frame:
            raise InvalidRequest(f"step has no field {next(iter(frame))!r}")
        self._operations.step(session, index, action, size).then(partial(_answer, reply))

    def _batch(self, frame: Frame, size: int, reply: Reply) -> None:
        items = frame.pop("items", None)
        if frame or not isinstance(items, list):
            raise InvalidRequest("batch has one field, `items`, a list")
        if len(items) > self._operations.registry.limits.batch_items:
            raise TooLarge(f"a batch may have {self._operations.registry.limits.batch_items} items, not {len(items)}")
        Batch(items, self._dispatch_item, reply, size).run()

    def _dispatch_item(self, size: int, item: Any, reply: Reply) -> None:
        if isinstance(item, dict) and item.get("op") not in _NOT_IN_BATCH:
            self.dispatch(item, size, reply)
        else:
            reply(failure(InvalidRequest(f"a batch item is an object, and its op none of {', '.join(_NOT_IN_BATCH)}")))

    def _session(self, frame: Frame) -> Session:
        """The session a frame is for: attached here, or shown by its token."""
        id_, token = frame.pop("session", None), frame.pop("token", None)
        if not isinstance(id_, str) or not (token is None or isinstance(token, str)):
            raise InvalidRequest("session and token are strings")
        if token is not None or id_ not in self._attached:
            self._operations.registry.tokens.require(token, "session", id_)
        return self._operations.registry.session(id_)

    def _attach(self, frame: Frame) -> bytes:
        session = self._session(frame)
        if frame:
            raise InvalidRequest(f"attach has no field {next(iter(frame))!r}")
        self._hold(session.id)
        return success(to_json(session.status()))

    def _hold(self, id_: str) -> None:
        """Attach a session. Now and then drop those the registry has forgotten: a connection may live for weeks."""
        self._attached.add(id_)
        if len(self._attached) >= self._prune_at:
            self._attached &= self._operations.registry.sessions.keys()
            self._prune_at = 2 * len(self._attached) + _ATTACHED_AT_LEAST

    async def _on_server(self, op: str, frame: Frame) -> bytes:
        if not self._may_open:
            raise Forbidden(f"{op} needs the server token in the handshake")
        if op == "info":
            _require_empty(op, frame)
            return self._operations.info()
        if op == "schema":
            return self._operations.schema(frame)
        if op == "tasks":
            return self._operations.tasks(frame)
        reply, id_, _ = await self._operations.open(frame)
        self._hold(id_)
        return reply

    async def _on_session(self, op: str, session: Session, frame: Frame) -> bytes:
        if op == "get":
            return await self._operations.get(session, frame)
        if op == "renew":
            return self._operations.renew(session, frame)
        if op == "close":
            return self._operations.close(session, frame)
        _require_empty(op, frame)
        return msgspec.json.encode({"jsonl": session.ledger.read().decode()})

    def _spawn(self, work: Coroutine[Any, Any, bytes], reply: Reply) -> None:
        task = asyncio.get_running_loop().create_task(_answer_when_done(work, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Batch:
    """Items of one batch: one session's in order, others concurrently; the reply when all are done."""

    def __init__(self, items: list[Any], dispatch: Callable[[int, Any, Reply], None], reply: Reply, size: int) -> None:
        self._results: list[bytes] = [b""] * len(items)
        self._left = len(items)
        self._dispatch, self._reply, self._size = dispatch, reply, size
        self._lanes: dict[Any, list[tuple[int, Any]]] = {}
        for at, item in enumerate(items):
            session = item.get("session") if isinstance(item, dict) else None
            lane = session if isinstance(session, str) else at
            if lane in self._lanes:
                self._lanes[lane].append((at, item))
            else:
                self._lanes[lane] = [(at, item)]

    def run(self) -> None:
        """Start every lane."""
        if not self._left:
            self._reply(success(b'{"items":[]}'))
        for lane in self._lanes.values():
            if len(lane) == 1:  # the usual case, and once a step
                self._dispatch(self._size, lane[0][1], partial(self._done, lane[0][0]))
            else:
                _Lane(lane, partial(self._dispatch, self._size), self._done).run()

    def _done(self, at: int, payload: bytes) -> None:
        self._results[at] = payload
        self._left -= 1
        if not self._left:
            self._reply(success(b'{"items":[{%b}]}' % b"},{".join(self._results)))


class _Lane:
    """One session's items, one after the other. A loop, since thousands may be answered at once: no recursion."""

    __slots__ = ("_dispatch", "_done", "_items", "_looping", "_waiting")

    def __init__(
        self, items: list[tuple[int, Any]], dispatch: Callable[[Any, Reply], None], done: Callable[[int, bytes], None]
    ) -> None:
        self._items = iter(items)
        self._dispatch, self._done = dispatch, done
        self._waiting = self._looping = False

    def run(self) -> None:
        """Start items until one is not answered at once."""
        self._looping = True
        while not self._waiting and (item := next(self._items, None)) is not None:
            self._waiting = True
            self._dispatch(item[1], partial(self._answered, item[0]))
        self._looping = False

    def _answered(self, at: int, payload: bytes) -> None:
        self._waiting = False
        self._done(at, payload)
        if not self._looping:
            self.run()


def _require_empty(op: str, frame: Frame) -> None:
    if frame:
        raise InvalidRequest(f"{op} has no field {next(iter(frame))!r}")


def success(reply: bytes) -> bytes:
    """The payload of a reply."""
    return b'"ok":' + reply


def failure(error: EnvhubError) -> bytes:
    """The payload of a typed error."""
    return b'"error":' + msgspec.json.encode(error.to_problem())


def _answer(reply: Reply, outcome: Outcome) -> None:
    """Turn a step's outcome into its reply."""
    reply(b'"ok":' + outcome.reply if outcome.reply is not None else failure(outcome.failure))


async def _answer_when_done(work: Coroutine[Any, Any, bytes], reply: Reply) -> None:
    """Await an operation and reply: the boundary at which a bug becomes a typed error."""
    try:
        reply(success(await work))
    except EnvhubError as error:
        reply(failure(error))
    except Exception as error:
        reply(failure(ServerError(f"the operation failed: {type(error).__name__}: {error}")))


__all__ = ["Dispatcher", "Frame", "Reply", "failure"]
