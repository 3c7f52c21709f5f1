"""The sites process: waitress in a few forked workers on one loopback socket.

Why waitress: it reads requests and writes responses in one polling thread, so a slow client holds no worker thread; it
passes the raw target of a request on, by which a proxy request is told from another, and a header to the client that
WSGI itself forbids (gunicorn drops it). Speed does not decide: with 32 sessions in a closed loop on two cores,
waitress, gunicorn (gthread, preloaded) and granian differed by less than two runs of one of them, since rendering
dominates. Why two forked workers: they use two cores, and share the memory of applications and templates.
"""

import json
import os
import signal
import socket
import sys
from typing import NoReturn, TextIO

import waitress.server
from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from suite import lifeline
from suite.proxy import MAX_BODY_BYTES, Application

WORKERS = 2
THREADS_PER_WORKER = 8
HEADER_LIMIT_BYTES = 64 * 1024
CONNECTION_LIMIT = 1024
CHALLENGE = ("Proxy-Authenticate", 'Basic realm="session"')


class ProxyTask(WSGITask):
    """A WSGI task that may challenge: WSGI keeps hop-by-hop headers from applications, but this one is a proxy."""

    def build_response_header(self) -> bytes:
        if self.status.startswith("407"):
            self.response_headers.append(CHALLENGE)
        header: bytes = super().build_response_header()
        return header


class ProxyChannel(HTTPChannel):
    """A connection whose requests are proxy requests."""

    task_class = ProxyTask


def serve_forever(application: Application, report: TextIO) -> NoReturn:
    """Forks the workers, writes port and workers as a JSON line to `report`, and ends with the first of them."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    master_pid = os.getpid()
    alive_read, alive_write = os.pipe()
    workers = [_fork_worker(application, listener, master_pid, (alive_read, alive_write)) for _ in range(WORKERS)]
    print(json.dumps({"port": listener.getsockname()[1], "workers": workers}), file=report, flush=True)
    listener.close()
    pid, status = os.wait()
    print(f"worker {pid} ended with status {os.waitstatus_to_exitcode(status)}", file=sys.stderr, flush=True)
    for worker in workers:
        if worker != pid:
            os.kill(worker, signal.SIGKILL)
    os._exit(1)


def _fork_worker(application: Application, listener: socket.socket, master_pid: int, pipe: tuple[int, int]) -> int:
    pid = os.fork()
    if pid == 0:
        os.close(pipe[1])
        lifeline.tie_to_parent(master_pid, pipe[0])
        try:
            _run_worker(application, listener)
        finally:
            os._exit(1)
    return pid


def _run_worker(application: Application, listener: socket.socket) -> None:
    server = waitress.server.create_server(
        application,
        sockets=[listener],
        threads=THREADS_PER_WORKER,
        connection_limit=CONNECTION_LIMIT,
        max_request_header_size=HEADER_LIMIT_BYTES,
        max_request_body_size=4 * MAX_BODY_BYTES,  # beyond this the body is not even read
        clear_untrusted_proxy_headers=True,
        asyncore_use_poll=True,
        ident=None,
    )
    server.channel_class = ProxyChannel
    server.run()
