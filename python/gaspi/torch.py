"""A backend of torch.distributed for tensors in main memory: ``init_process_group("gaspi")``.

    import torch.distributed as dist
    import gaspi.torch                         # registers the backend

    dist.init_process_group("gaspi")           # under gaspi-run (python -m gaspi.run) or torchrun

Operations go on beside the program, by a thread of the library, also while a backward pass runs. What is wrong with
tensors or operations is raised by the call itself; losses of ranks and timeouts by ``wait``, and name the rank.

Under gaspi-run the import makes the process a rank, and sets the variables that torch looks for. Under torchrun the
first process group does so: key and rendezvous of the job go through torch's store.

Versions: torch 1.13 keeps no Python object of a work alive, and does not say in options whether a caller waits at once.
Later ones do, and take the devices of a backend. Both find their form here."""

from __future__ import annotations

import atexit
import ctypes
import os
import secrets
import socket
import sys
import threading
from datetime import timedelta
from typing import Any, Callable, Optional, Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch.futures import Future

from . import _library as lib
from . import _proc, _team
from ._blocking import again
from ._errors import Error, fail_with_text
from ._mail import Mail, Parcel
from ._works import CollectiveWork, Ending, MessageWork, Watcher, late

Tensor = torch.Tensor

# gaspigo_type_t by dtype. Versions before 2.3 lack the wide unsigned integers.
_TYPES: dict[torch.dtype, int] = {
    torch.int8: 0,
    torch.int16: 1,
    torch.int32: 2,
    torch.int64: 3,
    torch.uint8: 4,
    **{getattr(torch, name): number for name, number in (("uint16", 5), ("uint32", 6), ("uint64", 7)) if hasattr(torch, name)},
    torch.float16: 8,
    torch.bfloat16: 9,
    torch.float32: 10,
    torch.float64: 11,
    torch.complex64: 12,
    torch.complex128: 13,
}
_BYTES = _TYPES[torch.uint8]

_OPS = [
    (dist.ReduceOp.SUM, "sum", 0),
    (dist.ReduceOp.PRODUCT, "product", 1),
    (dist.ReduceOp.MIN, "min", 2),
    (dist.ReduceOp.MAX, "max", 3),
    (dist.ReduceOp.BAND, "band", 4),
    (dist.ReduceOp.BOR, "bor", 5),
    (dist.ReduceOp.BXOR, "bxor", 6),
]
_AVG = getattr(dist.ReduceOp, "AVG", None)

_GROUPS = 128  # process groups of a rank
_LEAVING = 10.0  # seconds that a rank waits for the others when it ends
_KEPT = 1024  # operations whose end nobody has asked for



def _tensor(tensor: Any, what: str) -> Tensor:
    """Returns a tensor if the library can use its memory."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"gaspi: {what}: {type(tensor).__name__}; want a tensor")
    if tensor.device.type != "cpu":
        raise TypeError(f"gaspi: {what}: a tensor on {tensor.device}; want one in main memory (cpu)")
    if tensor.layout != torch.strided:
        raise TypeError(f"gaspi: {what}: a tensor of layout {tensor.layout}; want a dense one (to_dense)")
    return tensor.detach() if tensor.requires_grad else tensor


def _one(tensors: Sequence[Tensor], what: str) -> Tensor:
    if len(tensors) != 1:
        raise ValueError(f"gaspi: {what}: {len(tensors)} tensors; want one")
    return _tensor(tensors[0], what)


def _kind(tensor: Tensor, what: str) -> int:
    kind = _TYPES.get(tensor.dtype)
    if kind is None:
        raise TypeError(f"gaspi: {what}: elements of {tensor.dtype}; want one of {', '.join(map(str, _TYPES))}")
    return kind


def _reduction(op: Any, tensor: Tensor, what: str) -> tuple[int, bool]:
    """The gaspigo_op_t of an operation, and whether the result is divided by the number of ranks."""
    floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    if _AVG is not None and op == _AVG:
        if not floating:
            raise TypeError(f"gaspi: {what}: the average of {tensor.dtype}; want floats")
        return 0, True
    for each, name, number in _OPS:
        if op == each:
            if number >= 4 and floating:
                raise TypeError(f"gaspi: {what}: operation {name} of {tensor.dtype}; want integers")
            if number in (2, 3) and tensor.dtype.is_complex:
                raise TypeError(f"gaspi: {what}: operation {name} of {tensor.dtype}; complex numbers have no order")
            return number, False
    raise ValueError(f"gaspi: {what}: operation {op}; want one of {', '.join(name for _, name, _ in _OPS)}, avg")


def _alike(tensor: Tensor, like: Tensor, elements: int, what: str) -> Tensor:
    if tensor.dtype != like.dtype or tensor.numel() != elements:
        raise ValueError(
            f"gaspi: {what}: a tensor of {tensor.numel()} elements of {tensor.dtype}; want {elements} of {like.dtype}"
        )
    return tensor


def _waits(opts: Any) -> bool:
    """Whether the caller waits for an operation at once. Later versions of torch say so in the options. In earlier
    ones the function of torch.distributed that has called has the argument async_op."""
    later = getattr(opts, "asyncOp", None)
    if later is not None:
        return not later
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals is globals():
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "torch.distributed.distributed_c10d" and frame.f_locals.get("async_op") is False


def _nbytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


class Group(dist.ProcessGroup):  # type: ignore[misc]
    """A process group over a team. torch makes it."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._timeout = timeout.total_seconds()
        self._rank, self._size = rank, size
        proc = _join(store, rank, size, self._timeout)
        ranks = _exchange(store, "rank", rank, size, str(proc.rank))
        self._team, self._members = _team_of(proc, [int(r) for r in ranks], rank, self._timeout)
        self._proc = proc
        self._mail: Optional[Mail] = Mail(proc, self._members, self._team) if size > 1 else None
        self._calls = threading.Lock()  # held in calls of the team
        self._watcher = Watcher()
        self._alive: dict[int, Ending] = {}  # C++ code of torch 1.13 keeps no Python object alive
        self._late: list[Any] = []  # memory of calls that have not ended in time

    def _keep(self, work: Ending) -> None:
        self._alive[id(work)] = work
        if len(self._alive) > _KEPT:
            for number, old in list(self._alive.items())[: _KEPT // 2]:
                if old._over:
                    self._alive.pop(number, None)

    def _forget(self, work: Ending) -> None:
        self._alive.pop(id(work), None)

    def _run(
        self,
        task: lib.Task,
        alive: Any,
        finish: Optional[Callable[[], None]],
        result: Any,
        what: str,
        opts: Any = None,
    ) -> Ending:
        """Starts an operation. One whose caller waits at once is carried out."""
        api, team = lib.api(), self._team._handle
        if _waits(opts):
            with self._calls:
                code = again(lambda ms: api.gaspigo_do(team, task, ms), self._timeout)
                if code == lib.TIMEOUT:
                    self._late.append((task, alive))
                    raise late(what, self._timeout)
                if code:
                    fail_with_text(code, f"gaspi: {what}")
            if finish is not None:
                finish()
            return Ending(self, result, what, over=True)
        handle = ctypes.c_ulong()
        with self._calls:
            code = again(lambda ms: api.gaspigo_start(team, task, ms, handle), self._timeout)
            if code:
                fail_with_text(code, f"gaspi: {what}")
        return CollectiveWork(self, handle.value, alive, finish, result, what)

    # As torch names them.

    def getBackendName(self) -> str:  # noqa: N802
        """The name of the backend."""
        return "gaspi"

    def getSize(self) -> int:  # noqa: N802
        """How many members the group has."""
        return self._size

    def getRank(self) -> int:  # noqa: N802
        """Number of this one."""
        return self._rank

    def allreduce(self, tensors: Sequence[Tensor], opts: Any = None) -> Any:
        """Combines tensors of all members, in place."""
        what = "allreduce"
        tensor = _one(tensors, what)
        kind, (op, mean) = _kind(tensor, what), _reduction(opts.reduceOp if opts else dist.ReduceOp.SUM, tensor, what)
        dense = tensor.contiguous()
        task = lib.Task(call=_team._ALLREDUCE, type=kind, op=op, dst=dense.data_ptr(), count=dense.numel())
        return self._run(task, dense, self._finish(tensor, dense, mean), list(tensors), what, opts)

    def allreduce_coalesced(self, tensors: Sequence[Tensor], opts: Any = None) -> Any:
        """Combines several tensors of all members, in place."""
        what = "allreduce_coalesced"
        flat = [_tensor(t, what) for t in tensors]
        if not flat or any(t.dtype != flat[0].dtype for t in flat):
            raise TypeError(f"gaspi: {what}: want tensors of one dtype")
        kind, (op, mean) = _kind(flat[0], what), _reduction(opts.reduceOp if opts else dist.ReduceOp.SUM, flat[0], what)
        dense = torch.cat([t.reshape(-1) for t in flat])
        task = lib.Task(call=_team._ALLREDUCE, type=kind, op=op, dst=dense.data_ptr(), count=dense.numel())

        def finish() -> None:
            if mean:
                dense.div_(self._size)
            for t, part in zip(flat, dense.split([t.numel() for t in flat])):
                t.copy_(part.view(t.shape))

        return self._run(task, dense, finish, list(tensors), what, opts)

    def reduce(self, tensors: Sequence[Tensor], opts: Any = None) -> Any:
        """Combines tensors of all members, in place at the root."""
        what = "reduce"
        tensor = _one(tensors, what)
        kind, (op, mean) = _kind(tensor, what), _reduction(opts.reduceOp if opts else dist.ReduceOp.SUM, tensor, what)
        root = opts.rootRank if opts else 0
        if root == self._rank:
            dense = tensor.contiguous()
        else:
            dense = tensor.clone(memory_format=torch.contiguous_format)  # the tensor stays as it is
        task = lib.Task(call=_team._REDUCE, type=kind, op=op, root=root, dst=dense.data_ptr(), count=dense.numel())
        finish = self._finish(tensor, dense, mean) if root == self._rank else None
        return self._run(task, dense, finish, list(tensors), what, opts)

    def broadcast(self, tensors: Sequence[Tensor], opts: Any = None) -> Any:
        """Copies the root's tensor to all members."""
        tensor = _one(tensors, "broadcast")
        dense = tensor.contiguous()
        root = opts.rootRank if opts else 0
        task = self._moving(_team._BROADCAST, dense, None, _nbytes(dense), root)
        return self._run(task, dense, self._finish(tensor, dense), list(tensors), "broadcast", opts)

    def barrier(self, opts: Any = None) -> Any:
        """Ends when all members have called it."""
        return self._run(lib.Task(call=_team._BARRIER), None, None, [], "barrier", opts)

    def allgather(self, outputs: Sequence[Sequence[Tensor]], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """Gathers tensors of all members."""
        what = "allgather"
        source = _one(inputs, what).contiguous()
        outs = self._parts(outputs, source, what)
        flat = self._flat(source)
        task = self._moving(_team._ALLGATHER, flat, source, _nbytes(source))
        return self._run(task, (flat, source), lambda: _unpack(flat, outs), [list(o) for o in outputs], what, opts)

    def _allgather_base(self, output: Tensor, source: Tensor, opts: Any = None) -> Any:
        """Gathers tensors of all members in one."""
        what = "allgather"
        dense = _tensor(source, what).contiguous()
        out = _alike(_tensor(output, what), dense, dense.numel() * self._size, what)
        into = out.contiguous()
        task = self._moving(_team._ALLGATHER, into, dense, _nbytes(dense))
        return self._run(task, (into, dense), self._finish(out, into), [output], what, opts)

    def allgather_coalesced(self, outputs: Sequence[Sequence[Tensor]], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """Gathers several tensors of all members."""
        return _last([self.allgather([[out[k] for out in outputs]], [source], opts) for k, source in enumerate(inputs)])

    def allgather_into_tensor_coalesced(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """As ``_allgather_base``, of several tensors."""
        return _last([self._allgather_base(out, source, opts) for out, source in zip(outputs, inputs)])

    def gather(self, outputs: Sequence[Sequence[Tensor]], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """Gathers tensors of all members at the root."""
        what, root = "gather", opts.rootRank if opts else 0
        source = _one(inputs, what).contiguous()
        if root != self._rank:
            task = self._moving(_team._GATHER, None, source, _nbytes(source), root)
            return self._run(task, source, None, [], what, opts)
        outs = self._parts(outputs, source, what)
        flat = self._flat(source)
        task = self._moving(_team._GATHER, flat, source, _nbytes(source), root)
        return self._run(task, (flat, source), lambda: _unpack(flat, outs), [list(o) for o in outputs], what, opts)

    def scatter(self, outputs: Sequence[Tensor], inputs: Sequence[Sequence[Tensor]], opts: Any = None) -> Any:
        """Copies a tensor of the root to each member."""
        what, root = "scatter", opts.rootRank if opts else 0
        out = _one(outputs, what)
        dense, flat = out.contiguous(), None
        if root == self._rank:
            flat = torch.cat([part.reshape(-1) for part in self._parts(inputs, out, what)])
        task = self._moving(_team._SCATTER, dense, flat, _nbytes(dense), root)
        return self._run(task, (flat, dense), self._finish(out, dense), list(outputs), what, opts)

    def reduce_scatter(self, outputs: Sequence[Tensor], inputs: Sequence[Sequence[Tensor]], opts: Any = None) -> Any:
        """Combines tensors of all members, and gives each the one of its number."""
        what = "reduce_scatter"
        out = _one(outputs, what)
        flat = torch.cat([part.reshape(-1) for part in self._parts(inputs, out, what)])
        return self._reduce_scatter(out, flat, opts, list(outputs), what)

    def _reduce_scatter_base(self, output: Tensor, source: Tensor, opts: Any = None) -> Any:
        """Combines tensors of all members, and gives each a part."""
        what = "reduce_scatter"
        out = _tensor(output, what)
        flat = _alike(_tensor(source, what), out, out.numel() * self._size, what).contiguous()
        return self._reduce_scatter(out, flat, opts, [output], what)

    def reduce_scatter_tensor_coalesced(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """As ``_reduce_scatter_base``, of several tensors."""
        return _last([self._reduce_scatter_base(out, source, opts) for out, source in zip(outputs, inputs)])

    def _reduce_scatter(self, out: Tensor, flat: Tensor, opts: Any, result: Any, what: str) -> Any:
        kind, (op, mean) = _kind(out, what), _reduction(opts.reduceOp if opts else dist.ReduceOp.SUM, out, what)
        dense = out.contiguous()
        task = lib.Task(
            call=_team._REDUCE_SCATTER, type=kind, op=op, dst=dense.data_ptr(), src=flat.data_ptr(), count=dense.numel()
        )
        return self._run(task, (dense, flat), self._finish(out, dense, mean), result, what, opts)

    def alltoall(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], opts: Any = None) -> Any:
        """Sends a tensor to each member, and receives one from each."""
        what = "alltoall"
        if len(outputs) != self._size or len(inputs) != self._size:
            raise ValueError(f"gaspi: {what}: {len(inputs)} and {len(outputs)} tensors; want {self._size}, one for each member")
        outs = [_tensor(t, what) for t in outputs]
        ins = [_alike(_tensor(t, what), outs[0], t.numel(), what) for t in inputs]
        source = torch.cat([t.reshape(-1) for t in ins])
        into = torch.empty(sum(t.numel() for t in outs), dtype=source.dtype)
        sends, receives = [t.numel() for t in ins], [t.numel() for t in outs]

        def finish() -> None:
            for t, part in zip(outs, into.split(receives)):
                t.copy_(part.view(t.shape))

        return self._alltoallv(source, sends, into, receives, finish, list(outputs), what, opts)

    def alltoall_base(
        self, output: Tensor, source: Tensor, output_splits: Sequence[int], input_splits: Sequence[int], opts: Any = None
    ) -> Any:
        """Sends a part of a tensor to each member, and receives one from each. Splits are along the first axis."""
        what = "alltoall"
        out = _tensor(output, what)
        dense = _alike(_tensor(source, what), out, source.numel(), what).contiguous()
        into = out.contiguous()
        sends = self._splits(dense, input_splits, what)
        receives = self._splits(into, output_splits, what)
        return self._alltoallv(dense, sends, into, receives, self._finish(out, into), [output], what, opts)

    # Names of later versions.
    all_gather_single, all_gather_single_coalesced = _allgather_base, allgather_into_tensor_coalesced
    reduce_scatter_single, reduce_scatter_single_coalesced = _reduce_scatter_base, reduce_scatter_tensor_coalesced
    all_to_all_single = alltoall_base

    def _splits(self, tensor: Tensor, splits: Sequence[int], what: str) -> list[int]:
        """Elements for each member."""
        axis = tensor.shape[0] if tensor.dim() else 0
        row = tensor.numel() // axis if axis else 0
        if not splits:
            if axis % self._size:
                raise ValueError(f"gaspi: {what}: a first axis of {axis}; want one that {self._size} members divide")
            splits = [axis // self._size] * self._size
        if len(splits) != self._size or sum(splits) != axis:
            raise ValueError(f"gaspi: {what}: splits {list(splits)}; want {self._size} with the sum {axis}")
        return [row * rows for rows in splits]

    def _alltoallv(
        self,
        source: Tensor,
        sends: list[int],
        into: Tensor,
        receives: list[int],
        finish: Any,
        result: Any,
        what: str,
        opts: Any,
    ) -> Any:
        width = source.element_size()
        counts = [(ctypes.c_ulong * self._size)(*(n * width for n in each)) for each in (sends, receives)]
        task = lib.Task(
            call=_team._ALLTOALLV,
            type=_BYTES,
            dst=into.data_ptr(),
            src=source.data_ptr(),
            sends=counts[0],
            receives=counts[1],
        )
        return self._run(task, (source, into, counts), finish, result, what, opts)

    # Messages.

    def send(self, tensors: Sequence[Tensor], to: int, tag: int = 0) -> Any:
        """Sends a tensor to a member."""
        what = f"send to member {to}, tag {tag}"
        dense = _one(tensors, what).contiguous()
        mail = self._with(to, what)
        work = MessageWork(self, None, list(tensors), what)
        mail.send(to, tag, Parcel(dense.data_ptr(), _nbytes(dense), dense, work._done))
        return work

    def recv(self, tensors: Sequence[Tensor], source: int, tag: int = 0) -> Any:
        """Receives a tensor of a member."""
        what = f"recv from member {source}, tag {tag}"
        return self._receive(tensors, source, tag, self._with(source, what), what)

    def recv_anysource(self, tensors: Sequence[Tensor], tag: int = 0) -> Any:
        """Receives a tensor of any member."""
        what = f"recv, tag {tag}"
        return self._receive(tensors, None, tag, self._with(None, what), what)

    def _receive(self, tensors: Sequence[Tensor], source: Optional[int], tag: int, mail: Mail, what: str) -> Any:
        tensor = _one(tensors, what)
        dense = tensor.contiguous()
        work = MessageWork(self, self._finish(tensor, dense), list(tensors), what)
        mail.receive(source, tag, Parcel(dense.data_ptr(), _nbytes(dense), dense, work._done))
        return work

    def _with(self, member: Optional[int], what: str) -> Mail:
        if self._mail is None or member is not None and (member == self._rank or not 0 <= member < self._size):
            raise ValueError(f"gaspi: {what}: want another member, from 0 to {self._size - 1}, and not {self._rank}, this one")
        return self._mail

    # Parts of the above.

    def _finish(self, tensor: Tensor, dense: Tensor, mean: bool = False) -> Optional[Callable[[], None]]:
        """What is done when the result is in dense: it is divided, and copied if the tensor is not contiguous."""
        copies = dense.data_ptr() != tensor.data_ptr()
        if not copies and not mean:
            return None

        def finish() -> None:
            if mean:
                dense.div_(self._size)
            if copies:
                tensor.copy_(dense)

        return finish

    def _moving(self, call: int, into: Optional[Tensor], source: Optional[Tensor], nbytes: int, root: int = 0) -> lib.Task:
        """A task that moves nbytes for each member."""
        return lib.Task(
            call=call,
            type=_BYTES,
            root=root,
            dst=None if into is None else into.data_ptr(),
            src=None if source is None else source.data_ptr(),
            count=nbytes,
        )

    def _flat(self, like: Tensor) -> Tensor:
        return torch.empty((self._size, *like.shape), dtype=like.dtype)

    def _parts(self, lists: Sequence[Sequence[Tensor]], like: Tensor, what: str) -> list[Tensor]:
        if len(lists) != 1 or len(lists[0]) != self._size:
            raise ValueError(f"gaspi: {what}: want one list of {self._size} tensors, one for each member")
        return [_alike(_tensor(t, what), like, like.numel(), what) for t in lists[0]]


def _unpack(flat: Tensor, outs: Sequence[Tensor]) -> None:
    for part, out in zip(flat, outs):
        out.copy_(part.view(out.shape))


def _last(works: Sequence[Any]) -> Any:
    """The last of several operations, whose end waits for the others."""
    if not works:
        raise ValueError("gaspi: no tensors")
    last = works[-1]
    if last._over:  # and so are those before it
        return last
    ended = last._finish

    def finish() -> None:
        for work in works[:-1]:
            work.wait()
        if ended is not None:
            ended()

    last._finish = finish
    return last


def _exchange(store: Any, what: str, rank: int, size: int, mine: str) -> list[str]:
    """What all members of a group say, by number, through torch's store."""
    store.set(f"gaspi/{what}/{rank}", mine)
    return [store.get(f"gaspi/{what}/{r}").decode() for r in range(size)]


def _team_of(proc: _proc.Proc, ranks: list[int], rank: int, timeout: float) -> tuple[_team.Team, _proc.Group]:
    """A team with these ranks, in this order."""
    members = proc.world if len(ranks) == proc.size else proc.group(ranks, timeout)
    team = proc.team(members, timeout=timeout)
    if ranks == sorted(ranks):
        return team, members
    ordered = team.split(0, rank, timeout=timeout)
    assert ordered is not None
    return ordered, members


def _join(store: Any, rank: int, size: int, timeout: float) -> _proc.Proc:
    """Makes this process a rank, unless it is one: the first process group has all of them."""
    if _proc.initialized():
        return _proc.current()
    if not _started_by_gaspi():
        os.environ.update(_place(store, rank, size))
    proc = _proc.init(timeout, groups=_GROUPS)
    if proc.size != size or proc.rank != rank:
        proc.close()
        raise Error(f"torch says rank {rank} of {size}, and the job of gaspi rank {proc.rank} of {proc.size}: start it once")
    return proc


def _started_by_gaspi() -> bool:
    return any(name in os.environ for name in ("GASPI_BOOT_FD", "GASPI_RENDEZVOUS"))


def _place(store: Any, rank: int, size: int) -> dict[str, str]:
    """The variables that make this process a rank. Rank 0 draws key and port."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
        host = f"{socket.gethostname()}-{boot.read().strip()[:8]}"
    if rank == 0:
        address = os.environ.get("MASTER_ADDR") or socket.gethostname()
        with socket.create_server(("", 0)) as probe:
            port = probe.getsockname()[1]
        store.set("gaspi/job", f"{secrets.token_hex(32)} {address}:{port}")
    key, rendezvous = store.get("gaspi/job").decode().split()
    hosts = _exchange(store, "host", rank, size, host)
    beside = [r for r in range(size) if hosts[r] == host]
    return {
        "GASPI_RANK": str(rank),
        "GASPI_SIZE": str(size),
        "GASPI_RENDEZVOUS": rendezvous,
        "GASPI_KEY": key,
        "GASPI_HOST": host,
        "GASPI_LOCAL_RANK": str(beside.index(rank)),
        "GASPI_LOCAL_SIZE": str(len(beside)),
    }


def _prepare() -> None:
    """Under gaspi-run, becomes a rank and sets the variables of torch: its store is at rank 0."""
    if "RANK" in os.environ or not (_started_by_gaspi() or _proc.initialized()):
        return
    proc = _proc.current() if _proc.initialized() else _proc.init(groups=_GROUPS)
    place = np.zeros(256, np.uint8)
    if proc.rank == 0:
        host = "127.0.0.1" if proc.local_size == proc.size else socket.gethostname()
        with socket.create_server(("", 0)) as probe:
            text = f"{host} {probe.getsockname()[1]}".encode()
        place[: len(text)] = np.frombuffer(text, np.uint8)
    team = proc.team()
    team.broadcast(place)
    team.close()
    address, port = place.tobytes().rstrip(b"\0").decode().split()
    os.environ.update(
        RANK=str(proc.rank),
        WORLD_SIZE=str(proc.size),
        LOCAL_RANK=str(proc.local_rank),
        LOCAL_WORLD_SIZE=str(proc.local_size),
        MASTER_ADDR=address,
        MASTER_PORT=port,
    )


@atexit.register
def _leave() -> None:
    """Nobody leaves while others still need it, unless something went wrong."""
    if _proc.initialized() and not _proc.current().lost() and not hasattr(sys, "last_type"):
        try:
            _proc.current().barrier(_LEAVING)
        except Error:
            pass  # whoever is gone needs nothing


class Buckets:
    """The state of ``bucket_hook``: memory that all members reach, for each bucket of a model."""

    def __init__(self, group: Any = None) -> None:
        self._group: Group = group if group is not None else dist.group.WORLD
        if not isinstance(self._group, Group):
            raise TypeError(f"gaspi.torch.Buckets: a process group of backend {dist.get_backend(group)}; want one of 'gaspi'")
        self._memory: dict[int, tuple[_team.TeamMemory, Tensor]] = {}

    def _of(self, index: int, like: Tensor) -> Tensor:
        """Memory for a bucket. It is made in the first steps, by all members in one order."""
        nbytes = _nbytes(like)
        if index not in self._memory or self._memory[index][0].nbytes < nbytes:
            with self._group._calls:
                memory = self._group._team.alloc(nbytes, np.uint8, timeout=self._group._timeout)
            self._memory[index] = memory, torch.from_numpy(memory.array)
        return self._memory[index][1][:nbytes].view(like.dtype)


def bucket_hook(state: Buckets, bucket: Any) -> Future[Any]:
    """A communication hook of DistributedDataParallel: gradients are averaged in memory that all ranks reach, and not
    copied for it. ``model.register_comm_hook(gaspi.torch.Buckets(), gaspi.torch.bucket_hook)``"""
    what, source, group = "gradients", bucket.buffer(), state._group
    shared = state._of(bucket.index(), _tensor(source, what))
    torch.div(source, group._size, out=shared)
    task = lib.Task(
        call=_team._ALLREDUCE, type=_kind(shared, what), op=0, dst=shared.data_ptr(), count=shared.numel()
    )
    return group._run(task, shared, None, shared, what).get_future()


# torch compares them with types, and those above are texts.
bucket_hook.__annotations__.update({"bucket": dist.GradBucket, "return": Future[Tensor]})


def _create(store: Any, rank: int, size: int, timeout: timedelta) -> Group:
    return Group(store, rank, size, timeout)


def _register() -> None:
    try:
        dist.Backend.register_backend("gaspi", _create, devices=["cpu"])
    except TypeError:  # before torch 2.0
        dist.Backend.register_backend("gaspi", _create)


_prepare()
_register()
