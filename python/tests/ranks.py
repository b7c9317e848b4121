"""What every rank of a job does in the tests of package gaspi. Each function runs on all ranks."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
import weakref

import numpy as np

import gaspi

TYPES = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]


def refused(kind, call, *words):
    """Checks that a call raises an error of a kind whose text has some words."""
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), f"{error!r} lacks one of {words}"
        return error
    raise AssertionError(f"no {kind.__name__}")


def segments(proc):
    seg = proc.segment(3, (proc.size, 4), np.float64)
    a = seg.array
    assert a.shape == (proc.size, 4) and a.dtype == np.float64 and not a.any()
    proc.barrier()
    mine = proc.alloc(None, 4)
    mine.array[:] = proc.rank + np.arange(4)
    for rank in range(proc.size):
        mine.write_notify(mine.array, rank, proc.rank * 32, proc.rank, proc.rank + 1, segment=3)
    for _ in range(proc.size):
        got = seg.wait_some(0, proc.size)
        assert seg.reset(got) == got + 1
    assert np.array_equal(a, np.add.outer(np.arange(proc.size), np.arange(4)))
    proc.wait()
    view = a[1:, :2]
    error = refused(gaspi.Error, seg.delete, "segment 3", "array")
    assert error.code == -1
    del a
    refused(gaspi.Error, seg.delete, "segment 3")
    assert view.size == 2 * (proc.size - 1)
    del view
    proc.barrier()
    seg.delete()
    refused(gaspi.Error, lambda: seg.array, "given back")
    refused(gaspi.Error, seg.delete, "given back")
    mine.delete()
    proc.barrier()


def numbers(proc):
    """Numbers that C would cut off, and elements and names that it cannot have, are refused and change nothing."""
    seg, one, lone = proc.segment(5, (4,)), 2**32 + 1, proc.alloc(None, 1)
    store, team, objects = proc.store(1 << 16), proc.team(), np.array([None])
    store.put(f"a {proc.rank}", np.zeros(3))
    a, bit = seg.array, 2**64
    for kind, call, *words in (
        (ValueError, lambda: seg.write(a[:1], 65536, 0), "65536 as a rank", "0 to 65535"),
        (ValueError, lambda: seg.write(a[:1], -1, 0), "-1 as a rank"),
        (ValueError, lambda: seg.write(a[:1], 0, bit + 8), f"{bit + 8} as a size, offset"),
        (ValueError, lambda: seg.write(a[:1], 0, -8), "-8 as a size, offset"),
        (ValueError, lambda: seg.write(a[:1], 0, 0, queue=256), "256 as a segment, queue"),
        (ValueError, lambda: seg.write(a[:1], 0, 0, segment=256 + 5), "261 as a segment"),
        (ValueError, lambda: seg.write_notify(a[:1], 0, 0, one), f"{one} as a notification"),
        (ValueError, lambda: seg.write_notify(a[:1], 0, 0, 1, one), f"{one} as a notification, count or value"),
        (ValueError, lambda: seg.read(a[:1], 65536, 0), "65536 as a rank"),
        (ValueError, lambda: seg.read_notify(a[:1], 0, 0, one), f"{one} as"),
        (ValueError, lambda: seg.notify(65536, 1), "65536 as a rank"),
        (ValueError, lambda: seg.notify(0, 1, -1), "-1 as"),
        (ValueError, lambda: seg.wait_some(one, timeout=0), f"{one} as"),
        (ValueError, lambda: seg.reset(one), f"{one} as"),
        (TypeError, lambda: seg.reset(None), "None as a notification"),
        (TypeError, lambda: seg.notify(0.5, 1), "0.5 as a rank"),
        (ValueError, lambda: seg.size_at(65536), "65536 as a rank"),
        (ValueError, lambda: seg.fetch_add(65536, 0, 1), "65536 as a rank"),
        (ValueError, lambda: seg.compare_swap(0, bit, 0, 1), f"{bit} as"),
        (ValueError, lambda: seg.passive_send(a[:1], 65536), "65536 as a rank"),
        (ValueError, lambda: lone.register(65536), "65536 as a rank"),
        (TypeError, lambda: proc.segment(1.5, 1), "1.5 as a segment"),
        (ValueError, lambda: proc.segment(6, 2**61 + 1), "less than 2**63"),
        (TypeError, lambda: proc.segment(6, 1, object), "Python objects"),
        (TypeError, lambda: proc.segment(6, (2.5, 4)), "(2.5, 4)", "whole numbers"),
        (TypeError, lambda: team.alloc(2.5), "2.5", "whole numbers"),
        (TypeError, lambda: proc.stale_reduction([1, None], slack=1), "[1, None]", "whole numbers"),
        (ValueError, lambda: proc.stale_reduction((2**32, 2**32 + 1), slack=1), f"{2**64 + 2**32} as a size"),
        (TypeError, lambda: proc.use(6, objects), "use", "Python objects"),
        (TypeError, lambda: proc.bind(6, objects), "bind", "Python objects"),
        (ValueError, lambda: proc.ping(65536), "65536 as a rank"),
        (ValueError, lambda: proc.kill(65536 + (proc.rank + 1) % proc.size), "as a rank"),
        (ValueError, lambda: proc.wait(256), "256 as a segment, queue"),
        (ValueError, lambda: proc.team(tag=one), f"{one} as"),
        (ValueError, lambda: proc.store(bit + 1000), f"{bit + 1000} as a size"),
        (ValueError, lambda: proc.stale_reduction(3, slack=2**32), f"{2**32} as a number"),
        (ValueError, lambda: team.alloc(2**61 + 1), "less than 2**63"),
        (TypeError, lambda: team.alloc(1, object), "Python objects"),
        (ValueError, lambda: team.split(one), f"{one} as a number"),
        (ValueError, lambda: team.agree(2**32), f"{2**32} as"),
        (ValueError, lambda: team.broadcast(a, root=2**32), f"root={2**32}"),
        (ValueError, lambda: store.put("a\0b", a), "zero byte"),
        (ValueError, lambda: store.get(f"a {proc.rank}\0b"), "zero byte"),
        (ValueError, lambda: store.delete(f"a {proc.rank}\0b"), "zero byte"),
        (ValueError, lambda: store.wait(["a\0b"]), "zero byte"),
        (TypeError, lambda: store.view(f"a {proc.rank}", object), "Python objects"),
        (ValueError, lambda: team.allreduce(np.zeros(3), algorithm="\0ring"), "algorithm", "zero byte"),
        (ValueError, lambda: team.start.allreduce(np.zeros(3), algorithm="ring\0"), "algorithm", "zero byte"),
        (ValueError, lambda: team.plan.allgatherv(np.zeros(3), [3] * proc.size, algorithm="\0"), "algorithm", "zero byte"),
        (ValueError, lambda: team.revoke("a\0b"), "cause", "zero byte"),
    ):
        refused(kind, call, *words)
    for _ in range(100):  # more than there may be
        refused(ValueError, lambda: proc.group([65536]), "65536 as a rank")
    seg.write_notify(a[:1], proc.rank, 8, np.int64(1))
    assert seg.wait_some(np.uint8(1)) == 1 and seg.reset(1) == 1 and not a.any()
    proc.wait()
    del a
    team.barrier()
    team.close()
    store.close()
    lone.delete()
    seg.delete()


def owners(proc):
    """Threads that look at memory at a time share what says that it is used, so it is not given back under an array."""
    seg, looks, seen = proc.alloc(None, 8), threading.Event(), []

    def look():
        seen.append(seg.array)
        looks.set()

    def keep():
        del seg._keep  # once
        threads.append(threading.Thread(target=look))
        threads[0].start()
        looks.wait(0.2)  # it waits for this look, or is through
        return None

    threads, seg._keep = [], keep
    a = seg.array
    threads[0].join()
    del a
    refused(gaspi.Error, seg.delete, "array")
    seen.clear()
    seg.delete()


def transfers(proc):
    seg = proc.use(5, np.full(64, proc.rank, np.int32))
    a = seg.array
    right = (proc.rank + 1) % proc.size
    assert seg.size_at(right) == 256 and seg.offset(a[8:16]) == 32
    seg.read(a[8:12], right, 0)
    proc.wait()
    assert np.array_equal(a[8:12], [right] * 4)
    seg.read_notify(a[12:16], right, 4 * 4, 7)
    assert seg.wait_some(7) == 7 and seg.reset(7) == 1 and np.array_equal(a[12:16], [right] * 4)
    proc.barrier()
    seg.write(a[:4], right, 4 * 32)
    seg.notify(right, 9, 2**32 - 1)
    assert seg.wait_some(8, 4) == 9 and seg.reset(9) == 2**32 - 1
    assert np.array_equal(a[32:36], [(proc.rank - 1) % proc.size] * 4)
    queue = proc.queue()
    seg.write(a[:4], right, 4 * 36, queue=queue)
    assert queue.used == 1
    queue.wait()
    assert queue.used == 0
    queue.delete()
    refused(ValueError, lambda: seg.write(np.zeros(4), right, 0), "does not lie in segment 5")
    refused(ValueError, lambda: seg.write(a[::2], right, 0), "contiguous")
    refused(gaspi.Error, lambda: seg.write(a, right, 4), "at 4")
    refused(gaspi.Error, lambda: seg.write(a, proc.size, 0), f"rank {proc.size}")
    refused(gaspi.Error, lambda: seg.notify(right, 0, 0))
    refused(gaspi.Timeout, lambda: seg.wait_some(20, 2, timeout=0))
    refused(TimeoutError, lambda: seg.wait_some(20, 2, timeout=0.002), "20 to 21")
    refused(ValueError, lambda: seg.wait_some(20, 2, timeout=-1), "-1")

    def fill():
        while True:
            seg.notify(right, 30)

    refused(gaspi.QueueFull, fill, "wait")
    proc.wait()
    proc.barrier()
    del a
    seg.delete()


def atomics(proc):
    seg = proc.segment(0, 2, np.uint64)
    for _ in range(10):
        seg.fetch_add(0, 0, 3)
    seg.fetch_add(0, 8, -1)
    proc.barrier()
    if proc.rank == 0:
        assert seg.array.tolist() == [30 * proc.size, 2**64 - proc.size]
    last = proc.size - 1
    proc.barrier()
    seg.array[0] = 5
    proc.barrier()
    won = seg.compare_swap(last, 0, 5, 100 + proc.rank) == 5
    wins = proc.team(tag=8).allreduce(np.array([int(won)]))
    assert wins[0] == 1
    refused(gaspi.Error, lambda: seg.fetch_add(0, 4, 1), "at 4")
    if proc.size > 1:
        buffer = proc.alloc(1, 16, np.uint8)
        if proc.rank == 0:
            senders = {buffer.passive_receive(buffer.array) for _ in range(last)}
            assert senders == set(range(1, proc.size))
        else:
            buffer.passive_send(buffer.array[:8], 0)
        buffer.delete()
    proc.barrier()
    seg.delete()


def groups(proc):
    evens = range(0, proc.size, 2)
    if proc.rank in evens:
        group = proc.group(evens)
        group.barrier()
        team = proc.team(group)
        assert team.ranks == tuple(evens) and team.size == len(evens) and team.rank == proc.rank // 2
        assert team.allreduce(np.array([proc.rank]))[0] == sum(evens)
        team.close()
        group.barrier()
        group.delete()
    team = proc.team(tag=3)
    half = team.split(proc.rank % 2, -proc.rank)
    assert half.ranks == tuple(range(proc.size - 1 - (proc.size - 1 - proc.rank) % 2, -1, -2))
    half.close()
    assert (team.split(None if proc.rank else 0) is None) == (proc.rank != 0)
    assert team.agree(0xFF00 | 1 << proc.rank) == 0xFF00 | (1 if proc.size == 1 else 0)
    team.close()
    refused(gaspi.Error, lambda: proc.group([proc.size]), f"rank {proc.size}")
    late_groups(proc)


def late_groups(proc):
    """A group whose time was over goes on with the same call, in whatever order its ranks are given, and takes one number."""
    if proc.size == 1:
        return
    everybody = range(proc.size)
    if proc.rank == 0:
        for _ in range(40):  # more than there may be
            refused(gaspi.Timeout, lambda: proc.group(everybody, timeout=0))
    proc.barrier()
    group = proc.group(reversed(everybody))
    assert group.ranks == tuple(everybody)
    other = proc.group(everybody)
    assert other.id != group.id
    for each in group, other:
        each.barrier()
    proc.barrier()
    for each in group, other:
        each.delete()


def collectives(proc):
    team, n, me = proc.team(), proc.size, proc.rank
    total = n * (n - 1) // 2
    for name in TYPES:
        a = np.arange(6).astype(name).reshape(2, 3)
        out = np.empty_like(a)
        assert team.allreduce(a, out=out) is out
        assert np.array_equal(out, (n * np.arange(6)).astype(name).reshape(2, 3)), name
        assert team.allreduce(a) is a and np.array_equal(a, out)
        every = team.allgather(np.full((2, 2), me, name))
        assert every.shape == (n, 2, 2) and every.dtype == name and np.array_equal(every[:, 1, 1], np.arange(n).astype(name))
    assert team.allreduce(np.array([me + 1]), "prod")[0] == np.prod(np.arange(1, n + 1))
    assert team.allreduce(np.array([me], "f4"), "max")[0] == n - 1 and team.allreduce(np.array([me]), "min")[0] == 0
    assert team.allreduce(np.array([1 << me], "u4"), "or")[0] == (1 << n) - 1
    assert team.allreduce(np.array(float(me)))[()] == total
    for root in {0, n - 1}:
        a = np.array([me, 1.5])
        assert team.broadcast(a, root=root).tolist() == ([root, 1.5])
        flags = np.array([me == root, False, True])
        assert team.broadcast(flags, root=root).tolist() == [True, False, True]
        reduced = team.reduce(np.array([me, 1]), root=root)
        assert me != root or reduced.tolist() == [total, n]
        gathered = team.gather(np.array([me]), root=root)
        assert (gathered is None) if me != root else gathered.tolist() == [[r] for r in range(n)]
        blocks = np.arange(2 * n, dtype="i4").reshape(n, 2) if me == root else None
        assert team.scatter(blocks, np.empty(2, "i4"), root=root).tolist() == [2 * me, 2 * me + 1]
    blocks = np.add.outer(np.arange(n), [10 * me, 10 * me + 0.5])
    assert team.reduce_scatter(blocks).tolist() == [[n * me + 10 * total, n * me + 10 * total + n / 2]]
    assert team.alltoall(blocks).tolist() == [[me + 10 * r, me + 10 * r + 0.5] for r in range(n)]
    when = np.array([np.datetime64(me, "D")])
    assert team.allgather(when)[:, 0].tolist() == [np.datetime64(r, "D").item() for r in range(n)]
    assert team.scan(np.array([me + 1]))[0] == (me + 1) * (me + 2) // 2
    assert team.exscan(np.array([me + 1]))[0] == (me * (me + 1) // 2 if me else 1)
    assert team.allreduce(np.empty(0)).size == 0
    unequal(team, n, me)
    mistakes(team, n)
    team.close()


def unequal(team, n, me):
    counts = [r + 1 for r in range(n)]
    mine = np.full(me + 1, me, np.int16)
    every = [r for r in range(n) for _ in range(r + 1)]
    assert team.allgatherv(mine, counts).tolist() == every
    gathered = team.gatherv(mine, counts, root=n - 1)
    assert (gathered is None) if me != n - 1 else gathered.tolist() == every
    out = team.scatterv(np.array(every, "f8") if me == 0 else None, counts, np.empty(me + 1))
    assert out.tolist() == [me] * (me + 1)
    assert team.reduce_scatterv(np.array(every), counts).tolist() == [n * me] * (me + 1)
    sent = np.repeat(np.arange(n) + 100 * me, me + 1)
    assert team.alltoallv(sent, [me + 1] * n, counts).tolist() == [100 * r + me for r in range(n) for _ in range(r + 1)]


def mistakes(team, n):
    refused(TypeError, lambda: team.allreduce([1, 2]), "list", "numpy array")
    refused(TypeError, lambda: team.allreduce(np.array([True])), "bool")
    refused(TypeError, lambda: team.allreduce(np.array([1], ">i8")), "byte order")
    refused(ValueError, lambda: team.allreduce(np.zeros((4, 4))[:, 1]), "contiguous")
    refused(ValueError, lambda: team.allreduce(np.zeros(3), "mean"), "mean", "sum")
    refused(TypeError, lambda: team.allreduce(np.zeros(3), "xor"), "xor", "integers")
    refused(TypeError, lambda: team.allreduce(np.zeros(3, "c8"), "max"), "order")
    refused(ValueError, lambda: team.allreduce(np.zeros(3), out=np.zeros(4)), "(4,)", "(3,)")
    refused(TypeError, lambda: team.allreduce(np.zeros(3), out=np.zeros(3, "f4")), "float32")
    refused(ValueError, lambda: team.alltoall(np.zeros(n + 1) if n > 1 else np.array(0.0)), "first axis")
    for lengths in ([1] * (n + 1), [1] * (n - 1), [-1] * n):
        for call in (
            lambda: team.allgatherv(np.zeros(1), lengths),
            lambda: team.gatherv(np.zeros(1), lengths),
            lambda: team.scatterv(np.zeros(n), lengths, np.zeros(1)),
            lambda: team.reduce_scatterv(np.zeros(n), lengths),
            lambda: team.alltoallv(np.zeros(n), lengths, [1] * n),
            lambda: team.alltoallv(np.zeros(n), [1] * n, lengths),
        ):
            refused(ValueError, call, f"counts {lengths}; want {n} numbers from 0")
    refused(TypeError, lambda: team.broadcast(np.array([None])), "objects")
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    refused(ValueError, lambda: team.allreduce(fixed), "read-only")
    refused(gaspi.Error, lambda: team.allreduce(np.zeros(3), algorithm="none such"), "none such")


def memory(proc):
    team, n = proc.team(), proc.size
    block = team.alloc((1000, 3), np.float32)
    a = block.array
    for _ in range(3):
        a[:] = proc.rank + 1
        assert team.allreduce(a) is a and (a == n * (n + 1) // 2).all()
    refused(gaspi.Error, block.release, "array")
    refused(gaspi.Error, team.close, "array")
    plan = team.plan.allreduce(a[:500])
    for _ in range(3):
        a[:500] = 1
        assert (plan.run() == n).all()
        a[:500] = 2
        assert (plan.start().wait() == 2 * n).all()
    plan.close()
    requests = []
    for size in (3, 70000):
        for _ in range(4):
            x = np.full(size, proc.rank, np.int64)
            requests.append(team.start.allreduce(x, out=np.empty_like(x)))
    while not requests[0].test():
        pass
    assert requests[0].test()
    for request in reversed(requests):
        assert (request.wait() == n * (n - 1) // 2).all()
        assert (request.wait(timeout=0) == n * (n - 1) // 2).all()
    del a, plan
    block.release()
    team.close()
    refused(gaspi.Error, team.barrier, "handle")


def forgotten(proc):
    """The library writes to the arrays of operations that are under way: they stay, whatever a program has dropped."""

    def dropped(begin):
        """Begins an operation with arrays that nobody else has, and returns whether they stay, and its team."""
        team, arrays = proc.team(), [np.ones(3), np.ones(3)]
        seen = [weakref.ref(array) for array in arrays]
        if proc.rank == 0 and proc.size > 1:
            begin(team, *arrays)
        del arrays
        return seen, weakref.ref(team)

    def early(team, a, b):
        refused(gaspi.Timeout, lambda: team.allreduce(a, out=b, timeout=0))
        refused(gaspi.Error, lambda: team.allgather(np.zeros(2)), "finished first")

    for begin in (lambda team, a, b: team.start.allreduce(a, out=b), early):
        seen, team = dropped(begin)
        gc.collect()
        assert team() is not None
        under_way = proc.rank == 0 and proc.size > 1
        if under_way:
            assert all(array() is not None for array in seen), begin
        proc.barrier()
        if proc.rank:
            team().allreduce(np.ones(3), out=np.ones(3))
        elif begin is early and under_way:
            assert team().allreduce(seen[0](), out=seen[1]())[0] == proc.size
        proc.barrier()
        team().close()
        gc.collect()
        assert all(array() is None for array in seen) and team() is None
    array = np.zeros(3)
    if proc.rank == 0 and proc.size > 1:
        seen = weakref.ref(array)
        refused(gaspi.Timeout, lambda: proc.use(5, array, timeout=0))
        del array
        for timeout in (0, None):  # another array is refused, and the first one is under way as before
            refused(gaspi.Error, lambda: proc.use(5, np.zeros(3), timeout=timeout), "segment 5", "taken")
        gc.collect()
        array = seen()
        assert array is not None
    proc.barrier()
    proc.use(5, array).delete()
    seen = weakref.ref(array)
    del array
    assert seen() is None


def objects(proc):
    store = proc.store(1 << 22)
    if proc.rank == 0:
        store.put("a", np.arange(1000.0))
    got = store.get("a", np.float64, (10, 100))
    assert np.array_equal(got, np.arange(1000.0).reshape(10, 100))
    with store.view("a", np.float64) as view:
        assert view.array[-1] == 999
        seen = view.array
        refused(gaspi.Error, view.release, "array")
        refused(ValueError, lambda: seen.__setitem__(0, 1))
        del seen
    refused(ValueError, lambda: store.view("a", np.float64, 7), "8000 bytes", "(7,)")
    store.put(f"part{proc.rank}", np.full(10, proc.rank, np.int32))
    parts = [f"part{r}" for r in range(proc.size)]
    if proc.rank == 0:
        assert store.reduce("sum", parts, np.int32) == parts
    assert store.get("sum", np.int32).tolist() == [proc.size * (proc.size - 1) // 2] * 10
    assert store.wait(["sum", "never"]) == "sum"
    refused(gaspi.Timeout, lambda: store.get("never", timeout=0.01), "never")
    empty(proc, store)
    refused(gaspi.Error, lambda: store.put("a", np.zeros(3)), "a")
    proc.barrier()
    store.close()


def empty(proc, store):
    """Objects without a byte are read, and views that are refused hold no memory."""
    if proc.rank == 0:
        store.put("empty", np.empty(0))
    for shape in (None, 0, (3, 0)):
        assert store.get("empty", np.float64, shape).size == 0
    with store.view("empty") as view:
        assert view.array.size == view.bytes.size == 0
    proc.barrier()
    if proc.rank == 0:
        half = np.zeros(1 << 21, np.uint8)
        for _ in range(3):
            store.put("half", half, timeout=20)
            refused(ValueError, lambda: store.view("half", np.uint8, -1), "want lengths from 0")
            refused(ValueError, lambda: store.view("half", "S0"), "no array")
            refused(TypeError, lambda: store.view("half", np.uint8, "none such"))
            refused(KeyError, lambda: broken(store, "half"), "mine")
            gc.collect()
            store.delete("half")
    proc.barrier()


def broken(store, name):
    """An exception of the program while an array of a view lives."""
    with store.view(name) as view:
        kept = view.array
        raise KeyError("mine", kept.size)


def stale(proc):
    reduction = proc.stale_reduction((2, 2), np.float32, slack=2)
    for call in range(1, 6):
        result = reduction.allreduce(np.full((2, 2), float(call), np.float32))
        assert result.array.shape == (2, 2) and call - 2 <= result.oldest <= result.newest
        assert proc.size * result.oldest <= result.array[0, 0] <= proc.size * result.newest
    assert reduction.clock == 5
    refused(TypeError, lambda: reduction.allreduce(np.zeros(4)), "float64", "float32")
    reduction.close()
    mine = np.arange(2, proc.size + 2)
    for op, fold in (("sum", np.sum), ("prod", np.prod), ("min", np.min), ("max", np.max), ("and", np.bitwise_and.reduce),
                     ("or", np.bitwise_or.reduce), ("xor", np.bitwise_xor.reduce)):
        reduction = proc.stale_reduction(1, np.int64, op, slack=0)
        for _ in range(3):
            assert reduction.allreduce(mine[proc.rank:][:1]).array[0] == fold(mine), op
        reduction.close()
    refused(ValueError, lambda: proc.stale_reduction(3, np.int64, "mean", slack=1), "'mean'", "sum, prod, min, max, and, or, xor")
    refused(TypeError, lambda: proc.stale_reduction(3, np.float32, "xor", slack=1), "'xor' of float32", "integers")


def interrupts(proc):
    """An interrupt ends calls that block, in slices and in a thread of their own."""
    seg, store, team = proc.segment(0, 8, np.uint8), proc.store(1 << 16, tag=5), proc.team(tag=5)
    block = team.alloc(4)
    for call in (
        lambda: seg.wait_some(100),
        lambda: seg.passive_receive(seg.array, timeout=3600),
        lambda: store.get("never"),
        *([block.release] if proc.rank == 0 and proc.size > 1 else []),  # before the others
    ):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        refused(KeyboardInterrupt, call)
    proc.barrier()
    block.release()
    refused(gaspi.Error, block.release, "given back")
    team.barrier()


def forks(proc):
    seg, team, store = proc.segment(0, 1, np.uint64), proc.team(), proc.store(1 << 16)
    seg.fetch_add(proc.rank, 0, 1)  # by a thread, which a child does not have
    calls = (
        proc.barrier, proc.close, gaspi.init, gaspi.current, proc.lost, proc.team, lambda: proc.alloc(None, 8),
        lambda: proc.ping(0), lambda: proc.kill(0), lambda: proc.store(8), lambda: proc.stale_reduction(3, slack=1),
        lambda: seg.fetch_add(0, 0, 1), lambda: team.split(0), lambda: team.plan.barrier(), team.shrink,
        lambda: store.put("a", np.zeros(1)), lambda: store.get("a"), lambda: store.delete("a"),
    )
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)  # ends a child that hangs
        said = []
        for call in calls:
            try:
                call()
            except RuntimeError as error:
                said.append("fork" in str(error))
            else:
                said.append(False)
            os.write(write, bytes(said[-1:]))
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    said = os.read(read, 100)
    os.close(read)
    assert said == bytes([True] * len(calls)), said
    proc.barrier()
    team.close()
    store.close()
    seg.delete()


ALL = [segments, owners, numbers, transfers, atomics, groups, collectives, memory, forgotten, objects, stale, forks, interrupts]


def main(names):
    with gaspi.init() as proc:
        assert gaspi.current() is proc and gaspi.initialized()
        refused(gaspi.Error, gaspi.init, "already")
        kept = proc.segment(200, 4).array
        allocated = proc.team(tag=9).alloc(4).array
        for each in ALL:
            if not names or each.__name__ in names:
                proc.barrier()
                each(proc)
        proc.barrier()
    kept[:] = 1  # memory of arrays stays
    allocated[:] = 1
    assert kept.sum() + allocated.sum() == 8
    refused(gaspi.Error, gaspi.current, "gaspi.init()")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
