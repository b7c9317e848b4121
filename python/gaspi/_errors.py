"""Errors of the library."""

from __future__ import annotations

import ctypes
import re
from typing import NoReturn

from . import _library as lib


class Error(RuntimeError):
    """A call failed. ``code`` is its ``gaspi_return_t``."""

    def __init__(self, message: str, code: int = lib.ERROR) -> None:
        super().__init__(message)
        self.code = code


class Timeout(Error, TimeoutError):
    """The time was over. The same call, made again, goes on where this one left off."""


class QueueFull(Error):
    """The queue has no free entry. The operation was not posted: wait for the queue first."""


class RankLost(Error):
    """A call needs ranks that are gone. ``ranks`` are those, in ascending order."""

    def __init__(self, message: str, ranks: tuple[int, ...]) -> None:
        super().__init__(message)
        self.ranks = ranks


def lost_ranks() -> tuple[int, ...]:
    """The ranks that this one knows to be gone, in ascending order."""
    api, size = lib.api(), ctypes.c_ushort()
    if api.gaspi_proc_num(size):
        return ()
    states = (ctypes.c_int * size.value)()
    if api.gaspi_state_vec_get(states):
        return ()
    return tuple(rank for rank, state in enumerate(states) if state)


def _text(code: int) -> str:
    text: bytes = lib.api().gaspi_error_str(code)
    return text.decode()


def fail(code: int, what: str) -> NoReturn:
    """Raises the error of a function of GASPI that returned code."""
    lib.refuse_fork()
    if code == lib.TIMEOUT:
        raise Timeout(f"{what}: the time was over", code)
    if code == lib.QUEUE_FULL:
        raise QueueFull(f"{what}: the queue has no free entry; wait for it first", code)
    if code == lib.ERR_NOINIT:
        raise Error(f"{what}: this process is no rank (any more); gaspi.init() comes first", code)
    lost = lost_ranks() if code == lib.ERROR else ()
    if lost:
        raise RankLost(f"{what}: {names(lost)} gone", lost)
    raise Error(f"{what}: {_text(code)}", code)


def fail_with_text(code: int, what: str) -> NoReturn:
    """Raises the error of a function of gaspigo.h that returned code in this thread."""
    text = lib.api().gaspigo_error().decode(errors="replace")
    if code in (lib.TIMEOUT, lib.ERR_NOINIT) or not text:
        fail(code, what)
    lib.refuse_fork()
    named = {int(n) for n in re.findall(r"\brank (\d+)", text)}
    lost = tuple(rank for rank in lost_ranks() if rank in named)
    if lost:
        raise RankLost(f"{what}: {text}", lost)
    raise Error(f"{what}: {text}", code)


def names(ranks: tuple[int, ...]) -> str:
    """The subject of a sentence about some ranks, with its verb."""
    if len(ranks) == 1:
        return f"rank {ranks[0]} is"
    return "ranks " + ", ".join(map(str, ranks)) + " are"
