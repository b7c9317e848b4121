"""Calls that block: timeouts in seconds, and signals.

Handlers of Python run in the main thread between two steps of the interpreter, never during a call of C.
A call that can be made again after its time was over is therefore made in slices, and one that cannot runs in
a thread of its own while the main thread waits: so an interrupt (Ctrl-C) is raised within a tenth of a second."""

from __future__ import annotations

import math
import queue
import threading
import time
from typing import Callable, Optional

from . import _library as lib

BLOCK = 2**64 - 1  # milliseconds, without end

_SLICE = 0.1  # seconds


def milliseconds(timeout: Optional[float]) -> int:
    """A timeout in seconds, None for no end, as GASPI has it. Part of a millisecond counts as one."""
    if timeout is None:
        return BLOCK
    if not timeout >= 0:
        raise ValueError(f"timeout={timeout!r}: want seconds from 0, or None for no end")
    if math.isinf(timeout):
        return BLOCK
    return min(math.ceil(timeout * 1000), 2**31)


def again(call: Callable[[int], int], timeout: Optional[float]) -> int:
    """Makes a call with a timeout in milliseconds, which goes on when it is made again. Returns its code."""
    left = milliseconds(timeout)
    if left <= _SLICE * 1000:
        return call(left)
    begun, piece = time.monotonic(), int(_SLICE * 1000)
    code = call(piece)
    if code != lib.TIMEOUT:
        return code
    waited = lib.api().gaspigo_waited
    try:
        while code == lib.TIMEOUT:
            spent = time.monotonic() - begun
            if timeout is not None and left != BLOCK:
                piece = min(piece, math.ceil((timeout - spent) * 1000))
                if piece <= 0:
                    break
            waited(int(spent * 1000))  # for the stall report of gaspi-run
            code = call(piece)
    finally:
        waited(0)
    return code


class _Helper:
    """A thread that makes one call at a time for the main thread."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], None], threading.Event]] = queue.SimpleQueue()
        threading.Thread(target=self._loop, name="gaspi-call", daemon=True).start()

    def _loop(self) -> None:
        while True:
            call, done = self._work.get()
            call()
            del call  # with the arrays that it needs
            _idle.append(self)  # here: after an interrupt nobody waits for it any more
            done.set()
            del done

    def run(self, call: Callable[[], None]) -> None:
        done = threading.Event()
        self._work.put((call, done))
        while not done.wait(_SLICE):
            pass  # a signal may have come just before the wait, which then does not end by it


_idle: list[_Helper] = []


def once(call: Callable[[int], Optional[BaseException]], timeout: Optional[float]) -> None:
    """Makes a call with a timeout in milliseconds, which returns its error, and raises that. After an interrupt
    it goes on in a thread, until it has ended or this process is no rank any more."""
    lib.refuse_fork()  # here: a child has no thread that would make the call, and waits for ever
    ms = milliseconds(timeout)
    if threading.current_thread() is not threading.main_thread():
        error = call(ms)
        if error is not None:
            raise error
        return
    outcome: list[Optional[BaseException]] = []

    def made() -> None:
        try:
            outcome.append(call(ms))
        except BaseException as error:  # it is raised in the main thread
            outcome.append(error)

    try:
        helper = _idle.pop() if _idle else _Helper()
    except RuntimeError:  # the interpreter ends, and starts no threads any more
        made()
    else:
        helper.run(made)
    if outcome[0] is not None:
        raise outcome[0]
