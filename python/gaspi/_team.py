"""Teams, and their collective operations on arrays."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Generic, NamedTuple, Optional, Sequence, TypeVar

import numpy as np

from . import _library as lib
from ._arrays import BYTES, Array, Shape, address, check, op_of, shape_of, size_of, type_of
from ._blocking import again, once
from ._errors import fail_with_text
from ._memory import Memory

if TYPE_CHECKING:
    from ._proc import Proc

# gaspigo_call_t.
_BARRIER, _ALLREDUCE, _REDUCE, _BROADCAST, _ALLGATHER, _GATHER, _SCATTER, _REDUCE_SCATTER, _ALLTOALL, _SCAN, _EXSCAN = range(11)
_ALLGATHERV, _GATHERV, _SCATTERV, _REDUCE_SCATTERV, _ALLTOALLV = range(11, 16)


def made_by(call: Callable[[int, Any], int], what: str, timeout: Optional[float]) -> int:
    """The handle that a function of gaspigo.h makes, which cannot be called again. timeout is in seconds."""
    handle = ctypes.c_ulong()

    def made(ms: int) -> Optional[BaseException]:
        return error_of(call(ms, handle), what)

    once(made, timeout)
    return handle.value


def error_of(code: int, what: str) -> Optional[BaseException]:
    """The error of a function of gaspigo.h that returned code in this thread, or None."""
    if code == 0:
        return None
    try:
        fail_with_text(code, what)
    except Exception as error:
        return error


class Operation(NamedTuple):
    """A collective operation of one member: the task, what it needs alive, and its result."""

    task: lib.Task
    alive: tuple[Any, ...]
    result: Any
    what: str


Made = TypeVar("Made")


class Calls(Generic[Made]):
    """The collective operations. All members of a team make the same calls in the same order, from one thread at a
    time. Arrays are contiguous, with equal dtypes and, but for those with counts, equal lengths at all members; n is
    the number of members. Elements are integers of 8 to 64 bits, floats (with float16 and bfloat16) and complex
    numbers. Operations are "sum", "prod", "min", "max", and of integers "and", "or" and "xor".

    Where ``out`` may be left out, the result is written over the array. Arrays of ``Team.alloc`` are read and
    written in place by all members, others are copied: pass such an array at all members, or at none.

    timeout is in seconds; after Timeout the same call, with the same arrays and so with ``out``, goes on."""

    _size: int
    _rank: int

    def _make(self, operation: Operation, timeout: Optional[float]) -> Made:
        raise NotImplementedError

    def barrier(self, *, timeout: Optional[float] = None) -> Made:
        """Ends when all members have called it."""
        return self._make(Operation(lib.Task(call=_BARRIER), (), None, "barrier"), timeout)

    def allreduce(
        self, array: Array, op: str = "sum", *, out: Optional[Array] = None, algorithm: str = "", timeout: Optional[float] = None
    ) -> Made:
        """Combines the arrays of all members, element by element. The result has the shape of the array."""
        return self._fold(_ALLREDUCE, "allreduce", array, op, 0, out, algorithm, timeout)

    def reduce(
        self,
        array: Array,
        op: str = "sum",
        *,
        root: int = 0,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``allreduce``, with the result at member root alone. That of other members is undefined."""
        return self._fold(_REDUCE, "reduce", array, op, root, out, algorithm, timeout)

    def broadcast(self, array: Array, *, root: int = 0, algorithm: str = "", timeout: Optional[float] = None) -> Made:
        """Copies the array of member root to those of all others. Any dtype without objects will do."""
        array = check(array, "broadcast", writes=True)
        count, kind = _as_elements(array)
        task = lib.Task(call=_BROADCAST, type=kind, root=root, dst=address(array), count=count)
        return self._make(self._of(task, algorithm, array, "broadcast", array), timeout)

    def allgather(
        self, array: Array, *, out: Optional[Array] = None, algorithm: str = "", timeout: Optional[float] = None
    ) -> Made:
        """Gathers the arrays of all members, in their order. The result has shape (n, *array.shape)."""
        array = check(array, "allgather", writes=False)
        out = self._result(out, (self._size, *array.shape), array, "allgather")
        return self._move(_ALLGATHER, "allgather", array, out, array, 0, algorithm, timeout)

    def gather(
        self,
        array: Array,
        *,
        root: int = 0,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``allgather``, with the result at member root alone; that of others is None."""
        array = check(array, "gather", writes=False)
        out = self._result(out, (self._size, *array.shape), array, "gather") if root == self._rank else None
        return self._move(_GATHER, "gather", array, out, array, root, algorithm, timeout)

    def scatter(
        self,
        array: Optional[Array],
        out: Array,
        *,
        root: int = 0,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """Copies block r of the array of member root, which has n times the elements of out, to out of member r.
        Other members pass None."""
        out = check(out, "scatter", writes=True)
        if root == self._rank:
            array = self._blocks(array, out, "scatter")
        return self._move(_SCATTER, "scatter", array if root == self._rank else None, out, out, root, algorithm, timeout)

    def reduce_scatter(
        self,
        array: Array,
        op: str = "sum",
        *,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """Combines the arrays of all members, each of n blocks along the first axis, and gives block r to member r. The
        result has shape (array.shape[0] / n, *array.shape[1:])."""
        array = check(array, "reduce_scatter", writes=False)
        out = self._result(out, self._block_shape(array, "reduce_scatter"), array, "reduce_scatter")
        task = lib.Task(
            call=_REDUCE_SCATTER,
            type=type_of(array, "reduce_scatter"),
            op=op_of(op, array, "reduce_scatter"),
            dst=address(out),
            src=address(array),
            count=out.size,
        )
        return self._make(self._of(task, algorithm, (array, out), "reduce_scatter", out), timeout)

    def alltoall(
        self, array: Array, *, out: Optional[Array] = None, algorithm: str = "", timeout: Optional[float] = None
    ) -> Made:
        """Sends block r of the array, of n blocks along the first axis, to member r, and puts the block from member r
        at r in the result, which has the shape of the array."""
        array = check(array, "alltoall", writes=False)
        block = self._block_shape(array, "alltoall")
        out = self._result(out, array.shape, array, "alltoall")
        return self._move(_ALLTOALL, "alltoall", array, out, out, 0, algorithm, timeout, int(np.prod(block)))

    def scan(self, array: Array, op: str = "sum", *, algorithm: str = "", timeout: Optional[float] = None) -> Made:
        """Combines the arrays of the members up to this one, in place."""
        return self._fold(_SCAN, "scan", array, op, 0, None, algorithm, timeout)

    def exscan(self, array: Array, op: str = "sum", *, algorithm: str = "", timeout: Optional[float] = None) -> Made:
        """Combines the arrays of the members below this one, in place. That of member 0 stays."""
        return self._fold(_EXSCAN, "exscan", array, op, 0, None, algorithm, timeout)

    # With counts of elements for each member.

    def allgatherv(
        self,
        array: Array,
        counts: Sequence[int],
        *,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``allgather`` of counts[r] elements from member r. The result has shape (sum(counts),)."""
        counts = self._lengths(counts, "allgatherv")
        array = self._counted(array, counts[self._rank], "allgatherv")
        out = self._result(out, (sum(counts),), array, "allgatherv")
        return self._unequal(_ALLGATHERV, "allgatherv", array, out, array, 0, counts, algorithm, timeout)

    def gatherv(
        self,
        array: Array,
        counts: Sequence[int],
        *,
        root: int = 0,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``allgatherv``, with the result at member root alone; that of others is None."""
        counts = self._lengths(counts, "gatherv")
        array = self._counted(array, counts[self._rank], "gatherv")
        out = self._result(out, (sum(counts),), array, "gatherv") if root == self._rank else None
        return self._unequal(_GATHERV, "gatherv", array, out, array, root, counts, algorithm, timeout)

    def scatterv(
        self,
        array: Optional[Array],
        counts: Sequence[int],
        out: Array,
        *,
        root: int = 0,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``scatter`` of counts[r] elements to member r."""
        counts = self._lengths(counts, "scatterv")
        out = check(self._counted(out, counts[self._rank], "scatterv"), "scatterv", writes=True)
        if root == self._rank:
            array = _alike(self._counted(array, sum(counts), "scatterv"), out, "scatterv")
        src = array if root == self._rank else None
        return self._unequal(_SCATTERV, "scatterv", src, out, out, root, counts, algorithm, timeout)

    def reduce_scatterv(
        self,
        array: Array,
        counts: Sequence[int],
        op: str = "sum",
        *,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``reduce_scatter`` with counts[r] elements for member r. The result has shape (counts[r],)."""
        counts = self._lengths(counts, "reduce_scatterv")
        array = self._counted(array, sum(counts), "reduce_scatterv")
        out = self._result(out, (counts[self._rank],), array, "reduce_scatterv")
        number = op_of(op, array, "reduce_scatterv")
        kind = type_of(array, "reduce_scatterv")
        return self._unequal(_REDUCE_SCATTERV, "reduce_scatterv", array, out, out, 0, counts, algorithm, timeout, number, kind)

    def alltoallv(
        self,
        array: Array,
        sends: Sequence[int],
        receives: Sequence[int],
        *,
        out: Optional[Array] = None,
        algorithm: str = "",
        timeout: Optional[float] = None,
    ) -> Made:
        """As ``alltoall`` of sends[r] elements to member r and receives[r] from it. The result has shape
        (sum(receives),)."""
        sends, receives = self._lengths(sends, "alltoallv"), self._lengths(receives, "alltoallv")
        array = self._counted(array, sum(sends), "alltoallv")
        out = self._result(out, (sum(receives),), array, "alltoallv")
        return self._unequal(_ALLTOALLV, "alltoallv", array, out, array, 0, receives, algorithm, timeout, sends=sends)

    # Parts of the above.

    def _of(self, task: lib.Task, algorithm: str, alive: Any, what: str, result: Any) -> Operation:
        named = lib.encoded(algorithm, "algorithm")
        if named:
            task.algorithm = named
        return Operation(task, (alive, named), result, what)

    def _fold(
        self,
        call: int,
        what: str,
        array: Array,
        op: str,
        root: int,
        out: Optional[Array],
        algorithm: str,
        timeout: Optional[float],
    ) -> Made:
        array = check(array, what, writes=out is None)
        kind, number = type_of(array, what), op_of(op, array, what)
        dst, src = address(array), None
        if out is not None:
            out = self._result(out, array.shape, array, what)
            dst, src = address(out), dst
        task = lib.Task(call=call, type=kind, op=number, root=root, dst=dst, src=src, count=array.size)
        return self._make(self._of(task, algorithm, (array, out), what, array if out is None else out), timeout)

    def _move(
        self,
        call: int,
        what: str,
        src: Optional[Array],
        dst: Optional[Array],
        like: Array,
        root: int,
        algorithm: str,
        timeout: Optional[float],
        block: int = -1,
    ) -> Made:
        count, kind = _as_elements(like)
        if block >= 0:
            count = block * (count // like.size) if like.size else 0
        task = lib.Task(
            call=call,
            type=kind,
            root=root,
            dst=None if dst is None else address(dst),
            src=None if src is None else address(src),
            count=count,
        )
        return self._make(self._of(task, algorithm, (src, dst), what, dst), timeout)

    def _unequal(
        self,
        call: int,
        what: str,
        src: Optional[Array],
        dst: Optional[Array],
        like: Array,
        root: int,
        receives: Sequence[int],
        algorithm: str,
        timeout: Optional[float],
        op: int = 0,
        kind: int = -1,
        sends: Optional[Sequence[int]] = None,
    ) -> Made:
        each, scale = kind, 1
        if kind < 0:
            each = BYTES if like.dtype.name not in _MOVED else _MOVED[like.dtype.name]
            scale = like.dtype.itemsize if each == BYTES else 1
        into = self._counts(receives, scale)
        out_of = None if sends is None else self._counts(sends, scale)
        task = lib.Task(
            call=call,
            type=each,
            op=op,
            root=root,
            dst=None if dst is None else address(dst),
            src=None if src is None else address(src),
            receives=into,
            sends=out_of,
        )
        return self._make(self._of(task, algorithm, (src, dst, into, out_of), what, dst), timeout)

    def _lengths(self, counts: Sequence[int], what: str) -> Sequence[int]:
        if len(counts) != self._size or any(n < 0 for n in counts):
            raise ValueError(f"{what}: counts {list(counts)}; want {self._size} numbers from 0, one for each member")
        return counts

    def _counts(self, counts: Sequence[int], scale: int) -> Any:
        return (ctypes.c_ulong * self._size)(*(n * scale for n in counts))

    def _counted(self, array: Optional[Array], count: int, what: str) -> Array:
        array = check(array, what, writes=False)
        if array.size != count:
            raise ValueError(f"{what}: the array has {array.size} elements; the counts say {count}")
        return array

    def _result(self, out: Optional[Array], shape: tuple[int, ...], like: Array, what: str) -> Array:
        if out is None:
            return np.empty(shape, like.dtype)
        out = _alike(check(out, what, writes=True), like, what)
        if out.size != int(np.prod(shape)):
            raise ValueError(f"{what}: out has shape {out.shape}; want {shape}, or another with as many elements")
        return out

    def _blocks(self, array: Optional[Array], block: Array, what: str) -> Array:
        array = _alike(check(array, what, writes=False), block, what)
        if array.size != block.size * self._size:
            raise ValueError(f"{what}: the array has {array.size} elements; want {self._size} blocks of {block.size}")
        return array

    def _block_shape(self, array: Array, what: str) -> tuple[int, ...]:
        if array.ndim == 0 or array.shape[0] % self._size:
            raise ValueError(f"{what}: the array has shape {array.shape}; want a first axis that {self._size} members divide")
        return (array.shape[0] // self._size, *array.shape[1:])


# Elements that are moved as such: sizes and alignment are all that counts.
_MOVED = {"float32": 10, "float64": 11, "int32": 2, "int64": 3}


def _as_elements(array: Array) -> tuple[int, int]:
    """Count and gaspigo_type_t of an array whose elements are only moved."""
    if array.dtype.hasobject:
        raise TypeError(f"elements of {array.dtype!r} are Python objects, which mean nothing to other ranks")
    kind = _MOVED.get(array.dtype.name)
    return (array.nbytes, BYTES) if kind is None else (array.size, kind)


def _alike(array: Array, like: Array, what: str) -> Array:
    if array.dtype != like.dtype:
        raise TypeError(f"{what}: arrays of {array.dtype!r} and {like.dtype!r}; want one dtype")
    return array


class Team(Calls[Any]):
    """Ranks that act together, made by ``Proc.team``. Its calls block, and return the result. ``start`` has the
    same calls, which return a ``Request``, and ``plan`` those that return a ``Plan``."""

    def __init__(self, proc: Proc, handle: int) -> None:
        self._proc, self._handle = proc, handle
        api, cell = lib.api(), ctypes.c_int()
        _checked(api.gaspigo_team_rank(handle, cell), "team")
        self._rank = self.rank = cell.value
        """Number of this rank in the team, from 0."""
        _checked(api.gaspigo_team_size(handle, cell), "team")
        self._size = self.size = cell.value
        """How many members the team has."""
        ranks = (ctypes.c_ushort * self.size)()
        _checked(api.gaspigo_team_ranks(handle, ranks), "team")
        self.ranks = tuple(ranks)
        """The ranks of the members, in their order."""
        self.start = Starting(self)
        """Operations that go on beside the program, as ``team.start.allreduce(array)``."""
        self.plan = Planning(self)
        """Operations that are prepared once and run often, as ``team.plan.allreduce(array)``."""
        self._memory: list[TeamMemory] = []
        self._pending: dict[int, Operation] = {}  # which were started
        self._unfinished: dict[Any, Operation] = {}  # calls since the last that ended well, by their arrays
        proc._teams.add(self)

    def __repr__(self) -> str:
        return f"<gaspi team, member {self.rank} of ranks {self.ranks}>"

    def _make(self, operation: Operation, timeout: Optional[float]) -> Any:
        do, handle, task = lib.api().gaspigo_do, self._handle, operation.task
        return self._run(lambda ms: do(handle, task, ms), operation, timeout)

    def _run(self, call: Callable[[int], int], operation: Operation, timeout: Optional[float]) -> Any:
        """Makes a call, which can be made again. Its arrays are the library's until a call has ended well: of two that
        failed, either may be under way."""
        self._unfinished[operation.task.dst, operation.task.src] = operation
        code = again(call, timeout)
        if code:
            fail_with_text(code, operation.what)
        self._unfinished.clear()
        return operation.result

    def alloc(self, shape: Shape, dtype: Any = np.float64, *, timeout: Optional[float] = None) -> TeamMemory:
        """Makes memory for an array, zeroed, that all members reach: operations use it in place. All members call it
        with equal sizes, in one order. It blocks; timeout is in seconds."""
        nbytes, where = size_of(shape, dtype), ctypes.c_void_p()
        what = f"memory of {nbytes} bytes of a team"
        code = again(lambda ms: lib.api().gaspigo_alloc(self._handle, nbytes, ms, where), timeout)
        _checked(code, what)
        made = TeamMemory(self, where.value or 0, shape_of(shape), dtype, nbytes, what)
        self._memory.append(made)
        return made

    def split(self, color: Optional[int], key: int = 0, *, timeout: Optional[float] = None) -> Optional[Team]:
        """Makes a team of the members with equal colors, from 0, in the order of key; None for a member whose color is
        None. All members call it. It blocks; timeout is in seconds."""
        if color is not None and color < 0:
            raise ValueError(f"color={color}: want a number from 0, or None for no team")
        number = -1 if color is None else color
        split = lib.api().gaspigo_team_split
        handle = made_by(lambda ms, out: split(self._handle, number, key, ms, out), "split of a team", timeout)
        return Team(self._proc, handle) if handle else None

    def close(self) -> None:
        """Ends the team at this rank. Error while an array of its memory lives."""
        for memory in self._memory:
            if memory.used:
                memory._give_back()  # which says why not
        _checked(lib.api().gaspigo_team_close(self._handle), "end of a team")
        self._memory.clear()
        self._pending.clear()
        self._unfinished.clear()
        self._proc._teams.discard(self)

    def revoke(self, cause: str) -> None:
        """Ends the calls of all members, now and later, with an error that has this text."""
        _checked(lib.api().gaspigo_team_revoke(self._handle, lib.encoded(cause, "cause")), "revocation of a team")

    def agree(self, flags: int, timeout: Optional[float] = None) -> int:
        """Combines flags, 0 to 2**31 - 1, of the members that are left by AND; it works after losses. timeout is in seconds."""
        agreed = ctypes.c_uint()
        code = again(lambda ms: lib.api().gaspigo_team_agree(self._handle, flags, ms, agreed), timeout)
        _checked(code, "agreement")
        return agreed.value

    def shrink(self, timeout: Optional[float] = None) -> Team:
        """Makes a team of the members that are left, which all of them call. It blocks; timeout is in seconds."""
        shrink = lib.api().gaspigo_team_shrink
        return Team(self._proc, made_by(lambda ms, out: shrink(self._handle, ms, out), "shrink of a team", timeout))


class TeamMemory(Memory):
    """Memory that all members of a team reach, made by ``Team.alloc``: ``array`` is what calls use in place."""

    def __init__(self, team: Team, where: int, shape: tuple[int, ...], dtype: Any, nbytes: int, what: str) -> None:
        super().__init__(where, shape, dtype, nbytes, what)
        self._team = team

    def release(self, timeout: Optional[float] = None) -> None:
        """Gives the memory back, which all members do, in one order. Error while an array of it lives. It blocks;
        timeout is in seconds."""
        self._give_back()
        code = lib.TIMEOUT
        try:
            code = again(lambda ms: lib.api().gaspigo_release(self._team._handle, self._address, ms), timeout)
        finally:
            if code == lib.TIMEOUT:  # or an interrupt: the same call goes on
                self._gone = False
        _checked(code, f"release of {self._what}")
        self._team._memory.remove(self)


class Request:
    """An operation that goes on beside the program. Its arrays are the operation's until it has ended."""

    def __init__(self, team: Team, handle: int, operation: Operation) -> None:
        self._team, self._handle, self._operation = team, handle, operation
        self._ended = False
        team._pending[handle] = operation

    def test(self) -> bool:
        """Whether the operation has ended. Its error is raised. It does not block."""
        if self._ended:
            return True
        done = ctypes.c_int()
        code = lib.api().gaspigo_test(self._handle, done)
        if code or done.value:
            self._end(code)
        return self._ended

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Blocks until the operation has ended, and returns its result. timeout is in seconds."""
        if not self._ended:
            code = again(lambda ms: lib.api().gaspigo_wait(self._handle, ms), timeout)
            if code == lib.TIMEOUT:
                fail_with_text(code, self._operation.what)
            self._end(code)
        return self._operation.result

    def _end(self, code: int) -> None:
        error = error_of(code, self._operation.what)
        self._ended = True
        self._team._pending.pop(self._handle, None)
        lib.api().gaspigo_request_free(self._handle)
        if error is not None:
            raise error


class Starting(Calls[Request]):
    """The calls of a team that return a request and go on beside the program."""

    def __init__(self, team: Team) -> None:
        self._team, self._rank, self._size = team, team.rank, team.size

    def _make(self, operation: Operation, timeout: Optional[float]) -> Request:
        handle, start = ctypes.c_ulong(), lib.api().gaspigo_start
        code = again(lambda ms: start(self._team._handle, operation.task, ms, handle), timeout)
        _checked(code, operation.what)
        return Request(self._team, handle.value, operation)


class Planning(Calls["Plan"]):
    """The calls of a team that return a plan. They are collective, and block until all members have made it."""

    def __init__(self, team: Team) -> None:
        self._team, self._rank, self._size = team, team.rank, team.size

    def _make(self, operation: Operation, timeout: Optional[float]) -> Plan:
        new = lib.api().gaspigo_plan_new
        what = f"plan of {operation.what}"
        handle = made_by(lambda ms, out: new(self._team._handle, operation.task, ms, out), what, timeout)
        return Plan(self._team, handle, operation)


class Plan:
    """An operation that was prepared, with its arrays, and is run by all members any number of times."""

    def __init__(self, team: Team, handle: int, operation: Operation) -> None:
        self._team, self._handle, self._operation = team, handle, operation

    def run(self, timeout: Optional[float] = None) -> Any:
        """Runs it once and returns the result. It blocks; timeout is in seconds."""
        return self._team._run(lambda ms: lib.api().gaspigo_plan_run(self._handle, ms), self._operation, timeout)

    def start(self) -> Request:
        """Starts a run that goes on beside the program. A plan has one run at a time."""
        handle = ctypes.c_ulong()
        _checked(lib.api().gaspigo_plan_start(self._handle, handle), self._operation.what)
        return Request(self._team, handle.value, self._operation)

    def close(self) -> None:
        """Gives the plan back."""
        _checked(lib.api().gaspigo_plan_close(self._handle), f"end of a plan of {self._operation.what}")


def _checked(code: int, what: str) -> None:
    if code:
        fail_with_text(code, what)
