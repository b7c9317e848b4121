"""Segments: memory that other ranks read and write."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _library as lib
from ._arrays import Array, Shape, address, check
from ._blocking import BLOCK, again
from ._errors import fail
from ._memory import Memory

if TYPE_CHECKING:
    from ._proc import Proc, Queue



class Segment(Memory):
    """Memory of this rank that other ranks read and write, under a number that is the same at all of them.

    Offsets are in bytes from its start, at every rank. Arrays of it are views that keep the memory: the segment
    cannot be deleted while one lives. What this rank sends must lie in one of its segments."""

    def __init__(self, proc: Proc, number: int, shape: Shape, dtype: Any, nbytes: int, keep: Any = None) -> None:
        where = ctypes.c_void_p()
        code = lib.api().gaspi_segment_ptr(number, where)
        if code:
            fail(code, f"segment {number}")
        super().__init__(where.value or 0, shape, dtype, nbytes, f"segment {number}")
        self._proc, self._kept = proc, keep
        self.id = number
        """The number of the segment."""

    def __repr__(self) -> str:
        return f"<gaspi segment {self.id}: {self.nbytes} bytes>"

    @property
    def _number(self) -> int:
        return self._proc._still(self.id, self._what)

    def _keep(self) -> Any:
        return self._kept

    def delete(self) -> None:
        """Deletes the segment. Error while an array of it lives. It does not block, and ranks that use the
        segment later get an error."""
        number = self._number
        self._give_back()
        self._proc._forget(self)
        code = lib.api().gaspi_segment_delete(number)
        if code:
            fail(code, f"delete of {self._what}")

    def register(self, rank: int, timeout: Optional[float] = None) -> None:
        """Lets a rank use the segment, which ``alloc`` or ``bind`` made. timeout is in seconds."""
        code = again(lambda ms: lib.api().gaspi_segment_register(self._number, rank, ms), timeout)
        if code:
            fail(code, f"registration of {self._what} with rank {rank}")

    def offset(self, array: Array) -> int:
        """Where an array that lies in the segment begins, in bytes."""
        array = check(array, self._what, writes=False)
        at = address(array) - self._address
        if at < 0 or at + array.nbytes > self.nbytes:
            raise ValueError(f"the array of {array.nbytes} bytes does not lie in {self._what}: use a view of its array")
        return at

    def write(self, src: Array, rank: int, offset: int, *, segment: Optional[int] = None, queue: Union[int, Queue] = 0) -> None:
        """Copies src, a view of this segment, to offset (bytes) of a segment of a rank: that of this number, or
        ``segment``. It does not block. src may be changed when the queue was waited for. QueueFull if the queue
        has no entry."""
        number = self.id if segment is None else segment
        code = lib.api().gaspi_write(self._number, self.offset(src), rank, number, offset, src.nbytes, int(queue), BLOCK)
        if code:
            fail(code, f"write of {src.nbytes} bytes to rank {rank} segment {number} at {offset}")

    def write_notify(
        self,
        src: Array,
        rank: int,
        offset: int,
        notification: int,
        value: int = 1,
        *,
        segment: Optional[int] = None,
        queue: Union[int, Queue] = 0,
    ) -> None:
        """As ``write``, and then sets a notification of the segment there to value, 1 to 2**32 - 1. A rank that
        sees the value sees the bytes as well."""
        number = self.id if segment is None else segment
        code = lib.api().gaspi_write_notify(
            self._number, self.offset(src), rank, number, offset, src.nbytes, notification, value, int(queue), BLOCK
        )
        if code:
            fail(code, f"write of {src.nbytes} bytes to rank {rank} segment {number} at {offset} with notification {notification}")

    def read(self, dst: Array, rank: int, offset: int, *, segment: Optional[int] = None, queue: Union[int, Queue] = 0) -> None:
        """Copies dst.nbytes bytes from offset (bytes) of a segment of a rank to dst, a view of this segment.
        The bytes are there when the queue was waited for."""
        number = self.id if segment is None else segment
        code = lib.api().gaspi_read(self._number, self.offset(dst), rank, number, offset, dst.nbytes, int(queue), BLOCK)
        if code:
            fail(code, f"read of {dst.nbytes} bytes from rank {rank} segment {number} at {offset}")

    def read_notify(
        self, dst: Array, rank: int, offset: int, notification: int, *, segment: Optional[int] = None, queue: Union[int, Queue] = 0
    ) -> None:
        """As ``read``, and then sets a notification of this segment, of this rank, to 1."""
        number = self.id if segment is None else segment
        code = lib.api().gaspi_read_notify(
            self._number, self.offset(dst), rank, number, offset, dst.nbytes, notification, int(queue), BLOCK
        )
        if code:
            fail(code, f"read of {dst.nbytes} bytes from rank {rank} segment {number} at {offset}")

    def notify(self, rank: int, notification: int, value: int = 1, *, queue: Union[int, Queue] = 0) -> None:
        """Sets a notification of this segment at a rank, after all writes before it on the queue to that rank.
        value is 1 to 2**32 - 1. It does not block."""
        code = lib.api().gaspi_notify(self._number, rank, notification, value, int(queue), BLOCK)
        if code:
            fail(code, f"notification {notification} of rank {rank} segment {self.id}")

    def wait_some(self, first: int, count: int = 1, timeout: Optional[float] = None) -> int:
        """Blocks until one of count notifications of this segment from first on is set, and returns its number.
        timeout is in seconds; 0 looks once."""
        got = ctypes.c_uint()
        code = again(lambda ms: lib.api().gaspi_notify_waitsome(self._number, first, count, got, ms), timeout)
        if code:
            fail(code, f"wait for notifications {first} to {first + count - 1} of {self._what}")
        return got.value

    def reset(self, notification: int) -> int:
        """Sets a notification of this segment to 0 and returns what it was. It does not block."""
        old = ctypes.c_uint()
        code = lib.api().gaspi_notify_reset(self._number, notification, old)
        if code:
            fail(code, f"reset of notification {notification} of {self._what}")
        return old.value

    def size_at(self, rank: int) -> int:
        """The bytes that this segment has at a rank."""
        size = ctypes.c_ulong()
        code = lib.api().gaspi_segment_size(self._number, rank, size)
        if code:
            fail(code, f"size of rank {rank} segment {self.id}")
        return size.value

    def fetch_add(self, rank: int, offset: int, value: int, timeout: Optional[float] = None) -> int:
        """Adds value to the 8-byte word at offset (bytes, a multiple of 8) of this segment at a rank, modulo 2**64,
        and returns what it was. It blocks until the rank has answered; timeout is in seconds."""
        return self._atomic("gaspi_atomic_fetch_add", rank, offset, (value % 2**64,), timeout)

    def compare_swap(self, rank: int, offset: int, expected: int, value: int, timeout: Optional[float] = None) -> int:
        """As ``fetch_add``, and stores value if the word is expected. It was stored if expected is returned."""
        return self._atomic("gaspi_atomic_compare_swap", rank, offset, (expected % 2**64, value % 2**64), timeout)

    def _atomic(self, name: str, rank: int, offset: int, values: tuple[int, ...], timeout: Optional[float]) -> int:
        old = ctypes.c_ulong()
        function, what = getattr(lib.api(), name), f"atomic of rank {rank} segment {self.id} at {offset}"
        self._proc._once(lambda ms: function(self._number, offset, rank, *values, old, ms), what, timeout)
        return old.value

    def passive_send(self, src: Array, rank: int, timeout: Optional[float] = None) -> None:
        """Sends src, a view of this segment with 1 to 65,535 bytes, to whoever receives at a rank. It blocks until
        it was received; timeout is in seconds."""
        at = self.offset(src)
        code = again(lambda ms: lib.api().gaspi_passive_send(self._number, at, rank, src.nbytes, ms), timeout)
        if code:
            fail(code, f"passive message of {src.nbytes} bytes to rank {rank}")

    def passive_receive(self, dst: Array, timeout: Optional[float] = None) -> int:
        """Blocks until a passive message has come, copies it to the start of dst, a view of this segment that
        has room for it, and returns the rank that sent it. timeout is in seconds."""
        at, sender = self.offset(dst), ctypes.c_ushort()
        code = again(lambda ms: lib.api().gaspi_passive_receive(self._number, at, sender, dst.nbytes, ms), timeout)
        if code:
            fail(code, f"receipt of a passive message of up to {dst.nbytes} bytes")
        return sender.value
