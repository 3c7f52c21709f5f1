"""Ends this process when its parent ends, even by kill -9: the kernel's signal where there is one, and a pipe."""

import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def tie_to_parent(parent_pid: int, pipe_fd: int) -> None:
    """Ends this process once `parent_pid` is gone.

    Args:
        parent_pid: the process that started this one.
        pipe_fd: read end of a pipe whose write end only the parent holds; nothing is ever written to it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # it ended before the signal was armed
        os._exit(1)
    threading.Thread(target=_exit_at_end_of, args=(pipe_fd,), daemon=True, name="lifeline").start()


def _exit_at_end_of(pipe_fd: int) -> None:
    while os.read(pipe_fd, 1024):
        pass
    os._exit(1)
