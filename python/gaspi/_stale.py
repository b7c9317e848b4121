"""Reductions that do not wait for everybody."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _library as lib
from ._arrays import Array, address, check, op_of, type_of
from ._blocking import again
from ._errors import fail_with_text


class Stale(NamedTuple):
    """The result of a stale reduction."""

    array: Array
    """One contribution of each rank, combined."""
    oldest: int
    """The call, counted from 1, of the oldest contribution."""
    newest: int
    """That of the newest."""


class StaleReduction:
    """An allreduce whose result has contributions at most slack calls old, made by ``Proc.stale_reduction``. A newer
    contribution of a rank takes the place of its older one: contribute totals, not increments."""

    def __init__(
        self, group: int, shape: tuple[int, ...], dtype: Any, op: str, slack: int, tag: int, timeout: Optional[float]
    ) -> None:
        from ._team import made_by

        like: Array = np.empty(0, dtype)
        self._shape, self._dtype = shape, like.dtype
        kind, number, count = type_of(like, "stale reduction"), op_of(op, like, "stale reduction"), math.prod(shape)
        new = lib.api().gaspigo_reduction_new
        self._handle = made_by(
            lambda ms, out: new(group, count, kind, number, slack, tag, ms, out), "stale reduction", timeout
        )

    def allreduce(self, array: Array, out: Optional[Array] = None, timeout: Optional[float] = None) -> Stale:
        """Contributes an array, with the shape and dtype of the reduction, and returns the combination, in out or a new
        array. It blocks while a contribution is more than slack calls old; timeout is in seconds."""
        array = self._check(array, writes=False)
        out = np.empty(self._shape, self._dtype) if out is None else self._check(out, writes=True)
        oldest, newest = ctypes.c_long(), ctypes.c_long()
        run, mine, result = lib.api().gaspigo_reduction_run, address(array), address(out)
        code = again(lambda ms: run(self._handle, mine, result, ms, oldest, newest), timeout)
        if code:
            fail_with_text(code, "stale reduction")
        return Stale(out, oldest.value, newest.value)

    def _check(self, array: Array, writes: bool) -> Array:
        array = check(array, "stale reduction", writes)
        if array.dtype != self._dtype or array.size != math.prod(self._shape):
            raise TypeError(
                f"stale reduction: an array of shape {array.shape} and {array.dtype!r}; want {self._shape} and {self._dtype!r}"
            )
        return array

    @property
    def clock(self) -> int:
        """How many calls this rank has made."""
        clock = ctypes.c_long()
        code = lib.api().gaspigo_reduction_clock(self._handle, clock)
        if code:
            fail_with_text(code, "clock of a stale reduction")
        return clock.value

    def close(self, timeout: Optional[float] = None) -> None:
        """Ends the reduction, which all of its ranks do. It blocks; timeout is in seconds."""
        code = again(lambda ms: lib.api().gaspigo_reduction_close(self._handle, ms), timeout)
        if code:
            fail_with_text(code, "end of a stale reduction")
