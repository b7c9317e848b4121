"""The rank that this process is."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from types import TracebackType
from typing import Any, Callable, Iterable, Optional, Union

import numpy as np

from . import _library as lib
from ._arrays import Array, Shape, check, refuse_objects, shape_of, size_of
from ._blocking import BLOCK, again, once
from ._errors import Error, fail, lost_ranks
from ._objects import Store
from ._segment import Segment
from ._stale import StaleReduction
from ._team import Team, made_by

_current: Optional[Proc] = None


def init(
    timeout: Optional[float] = None,
    *,
    queues: int = 8,
    queue_depth: int = 1024,
    notifications: int = 65536,
    groups: int = 32,
    segments: int = 255,
) -> Proc:
    """Makes this process a rank of the job that started it, and a job of one rank if nothing did. It blocks until
    all ranks are there; timeout is in seconds, and after Timeout the same call goes on.

    queues (1 to 16) and groups are how many there may be, queue_depth (1 to 4096) the entries of each queue,
    notifications how many each segment has, segments (1 to 255) how many this rank may make."""
    global _current
    lib.refuse_fork()
    api = lib.api()
    if _current is not None and not _current.closed:
        raise Error("gaspi.init: this process is a rank already: gaspi.current() returns it")
    for name, number in (("queues", queues), ("queue_depth", queue_depth), ("notifications", notifications),
                         ("groups", groups), ("segments", segments)):
        if not 0 <= number < 2**32:
            raise ValueError(f"gaspi.init: {name}={number}: want a number from 1")
    config = lib.Config()
    code = api.gaspi_config_get(config)
    config.queue_num, config.queue_size_max = queues, queue_depth
    config.notification_num, config.group_max, config.segment_max = notifications, groups, segments
    code = code or api.gaspi_config_set(config)
    if code:
        fail(code, f"gaspi.init with {queues} queues of {queue_depth} entries and {segments} segments")
    code = again(api.gaspi_proc_init, timeout)
    if code:
        fail(code, "gaspi.init")
    _current = Proc()
    return _current


def current() -> Proc:
    """The rank that this process is. Error if it is none."""
    lib.refuse_fork()
    if _current is None or _current.closed:
        raise Error("this process is no rank: gaspi.init() comes first")
    return _current


def initialized() -> bool:
    """Whether this process is a rank."""
    return _current is not None and not _current.closed and _current._process == os.getpid()


@atexit.register
def _leave() -> None:
    if not initialized():
        return
    told = threading.excepthook

    def tell(ended: Any) -> None:
        if not issubclass(ended.exc_type, Error):
            told(ended)

    threading.excepthook = tell  # daemon threads, the only ones that are left: the end ends their calls
    current().close()


def _number(function: Callable[[Any], int], cell: Any, what: str) -> int:
    code = function(cell)
    if code:
        fail(code, what)
    value: int = cell.value
    return value


class Proc:
    """A rank of a job, made by ``gaspi.init``. It is a context manager: at the end the rank leaves the job."""

    def __init__(self) -> None:
        api = lib.api()
        self.rank = _number(api.gaspi_proc_rank, ctypes.c_ushort(), "rank")
        """Number of this rank, from 0."""
        self.size = _number(api.gaspi_proc_num, ctypes.c_ushort(), "number of ranks")
        """How many ranks the job has."""
        self.local_rank = _number(api.gaspi_proc_local_rank, ctypes.c_ushort(), "rank of this host")
        """Number of this rank among those of its host, from 0."""
        self.local_size = _number(api.gaspi_proc_local_num, ctypes.c_ushort(), "number of ranks of this host")
        """How many ranks this host has."""
        self.closed = False
        """Whether this process has left the job."""
        self.world = Group(self, 0, range(self.size))
        """The group of all ranks."""
        self._segments: dict[int, Segment] = {}
        self._lent: dict[int, list[Array]] = {}  # by number: memory of segments whose ``use`` has not ended
        self._uncommitted: dict[tuple[int, ...], int] = {}  # groups whose time was over, by their ranks
        self._teams: set[Team] = set()  # that are open: they keep the arrays of operations under way
        self._process = os.getpid()

    def __enter__(self) -> Proc:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<gaspi rank {self.rank} of {self.size}>"

    def close(self) -> None:
        """Leaves the job. Calls of other ranks that need this one fail from now on: use ``barrier`` first. Arrays
        of segments stay readable and writable, but no other rank sees them."""
        if self.closed:
            return
        lib.refuse_fork()
        self.closed = True
        self._once(lib.api().gaspi_proc_term, "end of this rank", None)

    def barrier(self, timeout: Optional[float] = None) -> None:
        """Blocks until all ranks have called it. timeout is in seconds."""
        self.world.barrier(timeout)

    def lost(self) -> tuple[int, ...]:
        """The ranks that this one knows to be gone, in ascending order."""
        lib.refuse_fork()
        return () if self.closed else lost_ranks()

    def ping(self, rank: int, timeout: Optional[float] = None) -> None:
        """Finds out whether a rank is there. RankLost if it is not."""
        what = f"ping of rank {rank}"
        self._once(lambda ms: lib.api().gaspi_proc_ping(self._still(rank, what), ms), what, timeout)

    def kill(self, rank: int, timeout: Optional[float] = None) -> None:
        """Ends another rank at once, and returns when it is gone."""
        what = f"end of rank {rank}"
        self._once(lambda ms: lib.api().gaspi_proc_kill(self._still(rank, what), ms), what, timeout)

    def _once(self, call: Callable[[int], int], what: str, timeout: Optional[float]) -> None:
        """Makes a call of GASPI that cannot be made again."""

        def made(ms: int) -> Optional[BaseException]:
            code = call(ms)
            if code == 0:
                return None
            try:
                fail(code, what)
            except Exception as error:
                return error

        once(made, timeout)

    def _still(self, number: int, what: str) -> int:
        """The number of a thing of this rank. Error if the rank has ended: a later one of the process may have it again."""
        if self.closed:
            fail(lib.ERR_NOINIT, what)
        return number

    def _over(self, group: Optional[Group], what: str) -> int:
        """The number of a group, by default that of all ranks, for a thing that this rank makes."""
        return self._still((group or self.world)._number, what)

    # Segments.

    def segment(
        self,
        number: Optional[int],
        shape: Shape,
        dtype: Any = np.float64,
        *,
        group: Optional[Group] = None,
        timeout: Optional[float] = None,
    ) -> Segment:
        """Makes segment number (0 to 254; None takes the lowest that this rank has free) with room for an array,
        zeroed, which all members of the group, by default all ranks, may use. It is collective over them and
        blocks; shapes may differ. timeout is in seconds."""
        nbytes, members = size_of(shape, dtype), self._over(group, "new segment")
        number = self._free(number)
        code = again(lambda ms: lib.api().gaspi_segment_create(number, nbytes, members, ms, 1), timeout)
        return self._made(code, number, shape, dtype, nbytes)

    def alloc(self, number: Optional[int], shape: Shape, dtype: Any = np.float64) -> Segment:
        """As ``segment``, of this rank alone: ``Segment.register`` lets others use it."""
        nbytes = size_of(shape, dtype)
        number = self._free(number)
        return self._made(lib.api().gaspi_segment_alloc(number, nbytes, 1), number, shape, dtype, nbytes)

    def use(self, number: Optional[int], array: Array, *, group: Optional[Group] = None, timeout: Optional[float] = None) -> Segment:
        """As ``segment``, of the memory of an array that this process has, which the segment keeps."""
        array, members = check(array, "use", writes=True), self._over(group, "new segment")
        refuse_objects(array.dtype, "use")
        number = self._free(number)
        where, lent = array.ctypes.data, self._lent.setdefault(number, [])
        lent.append(array)
        code = again(lambda ms: lib.api().gaspi_segment_use(number, where, array.nbytes, members, ms, 0), timeout)
        if not code:
            del self._lent[number]
        elif code != lib.TIMEOUT:
            lent.pop()  # an earlier one is under way as before
        return self._made(code, number, array.shape, array.dtype, array.nbytes, array)

    def bind(self, number: Optional[int], array: Array) -> Segment:
        """As ``alloc``, of the memory of an array that this process has, which the segment keeps."""
        array = check(array, "bind", writes=True)
        refuse_objects(array.dtype, "bind")
        number = self._free(number)
        code = lib.api().gaspi_segment_bind(number, array.ctypes.data, array.nbytes, 0)
        return self._made(code, number, array.shape, array.dtype, array.nbytes, array)

    def _free(self, number: Optional[int]) -> int:
        self._still(0, "new segment")
        if number is None:
            return _number(lib.api().gaspi_segment_avail_local, ctypes.c_ubyte(), "free segment")
        if not 0 <= number <= 254:
            raise ValueError(f"segment {number}: want a number from 0 to 254")
        return number

    def _made(self, code: int, number: int, shape: Shape, dtype: Any, nbytes: int, keep: Any = None) -> Segment:
        if code:
            fail(code, f"segment {number} of {nbytes} bytes")
        made = Segment(self, number, shape, dtype, nbytes, keep)
        self._segments[number] = made
        return made

    def _forget(self, segment: Segment) -> None:
        del self._segments[segment.id]

    # Queues.

    def wait(self, queue: Union[int, Queue] = 0, timeout: Optional[float] = None) -> None:
        """Blocks until all operations of a queue have ended: sources may be changed, and reads have come. RankLost
        if one was for a rank that is gone. timeout is in seconds."""
        number = self._still(int(queue), f"wait for queue {queue}")
        code = again(lambda ms: lib.api().gaspi_wait(number, ms), timeout)
        if code:
            fail(code, f"wait for queue {number}")

    def queue(self) -> Queue:
        """Makes one more queue."""
        self._still(0, "new queue")
        number = _number(lambda cell: int(lib.api().gaspi_queue_create(cell, BLOCK)), ctypes.c_ubyte(), "new queue")
        return Queue(self, number)

    # Groups and teams.

    def group(self, ranks: Iterable[int], timeout: Optional[float] = None) -> Group:
        """Makes a group of some ranks, which all of them do. It blocks; timeout is in seconds, and after Timeout the
        same call goes on."""
        api, members = lib.api(), sorted(ranks)
        self._still(0, f"group of ranks {members}")
        left = self._uncommitted.pop(tuple(members), None)
        number = self._new_group(members) if left is None else left
        code = lib.TIMEOUT
        try:
            code = again(lambda ms: api.gaspi_group_commit(number, ms), timeout)
        finally:
            if code == lib.TIMEOUT:  # or an interrupt
                self._uncommitted[tuple(members)] = number
            elif code:
                api.gaspi_group_delete(number)
        if code:
            fail(code, f"group of ranks {members}")
        return Group(self, number, members)

    def _new_group(self, members: list[int]) -> int:
        api = lib.api()
        number = _number(api.gaspi_group_create, ctypes.c_ubyte(), "new group")
        try:
            for rank in members:
                code = api.gaspi_group_add(number, rank)
                if code:
                    fail(code, f"group of ranks {members}: rank {rank}")
        except BaseException:
            api.gaspi_group_delete(number)
            raise
        return number

    def team(self, group: Optional[Group] = None, *, tag: int = 0, timeout: Optional[float] = None) -> Team:
        """Makes a team of the members of a group, by default of all ranks, for collective calls on arrays. All
        members make it, with equal tags, which tell apart teams that threads make at a time. It blocks; timeout is
        in seconds."""
        number = self._over(group, "new team")
        return Team(self, made_by(lambda ms, out: lib.api().gaspigo_team_new(number, tag, ms, out), "new team", timeout))

    def store(
        self, capacity: int, group: Optional[Group] = None, *, tag: int = 0, timeout: Optional[float] = None
    ) -> Store:
        """Opens a store of objects with names, with capacity bytes at each rank. All members of the group, by
        default all ranks, do so with the same arguments. It blocks; timeout is in seconds."""
        what = f"store of {capacity} bytes"
        number = self._over(group, what)
        return Store(self, made_by(lambda ms, out: lib.api().gaspigo_store_open(number, capacity, tag, ms, out), what, timeout))

    def stale_reduction(
        self,
        shape: Shape,
        dtype: Any = np.float64,
        op: str = "sum",
        *,
        slack: int,
        group: Optional[Group] = None,
        tag: int = 0,
        timeout: Optional[float] = None,
    ) -> StaleReduction:
        """Makes a reduction of arrays whose results have contributions at most slack calls old; 0 is an exact
        allreduce. op is as in calls of a team, of int32, int64, uint32, uint64, float32 or float64. All members of
        the group, by default all ranks, make it with the same arguments. It blocks; timeout is in seconds."""
        return StaleReduction(self._over(group, "stale reduction"), shape_of(shape), dtype, op, slack, tag, timeout)


class Queue:
    """A queue beside those that ``init`` has made. It stands for its number."""

    def __init__(self, proc: Proc, number: int) -> None:
        self._proc = proc
        self.number = number
        """The number of the queue."""

    def __int__(self) -> int:
        return self._proc._still(self.number, f"queue {self.number}")

    def wait(self, timeout: Optional[float] = None) -> None:
        """As ``Proc.wait``."""
        self._proc.wait(self, timeout)

    @property
    def used(self) -> int:
        """How many entries are taken."""
        entries = ctypes.c_uint()
        code = lib.api().gaspi_queue_size(int(self), entries)
        if code:
            fail(code, f"size of queue {self.number}")
        return entries.value

    def purge(self) -> None:
        """Gives all entries back without waiting, after the loss of a rank."""
        code = lib.api().gaspi_queue_purge(int(self), BLOCK)
        if code:
            fail(code, f"purge of queue {self.number}")

    def delete(self) -> None:
        """Deletes the queue."""
        code = lib.api().gaspi_queue_delete(int(self))
        if code:
            fail(code, f"delete of queue {self.number}")


class Group:
    """A set of ranks."""

    def __init__(self, proc: Proc, number: int, ranks: Iterable[int]) -> None:
        self._proc = proc
        self.id = number
        """The number of the group, of this rank."""
        self.ranks = tuple(ranks)
        """Its members, in ascending order."""

    def __repr__(self) -> str:
        return f"<gaspi group of ranks {self.ranks}>"

    @property
    def _number(self) -> int:
        return self._proc._still(self.id, f"group of ranks {self.ranks}")

    def barrier(self, timeout: Optional[float] = None) -> None:
        """Blocks until all members have called it. timeout is in seconds."""
        code = again(lambda ms: lib.api().gaspi_barrier(self._number, ms), timeout)
        if code:
            fail(code, "barrier")

    def delete(self) -> None:
        """Deletes the group. That of all ranks stays."""
        code = lib.api().gaspi_group_delete(self._number)
        if code:
            fail(code, f"delete of the group of ranks {self.ranks}")
