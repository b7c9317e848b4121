"""What every rank of a job does in the tests of the backend of torch.distributed. Gloo does the same beside it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import gaspi
import gaspi.torch
from ranks import refused

OPS = [dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX]
TYPES = [torch.int8, torch.int32, torch.int64, torch.uint8, torch.float32, torch.float64]


def alike(call, gloo):
    """Checks that both backends make the same tensors."""
    ours, theirs = call(dist.group.WORLD), call(gloo)
    for a, b in zip(ours, theirs):
        assert a.dtype == b.dtype and torch.equal(a, b), (a, b)


def collectives(gloo):
    rank, size = dist.get_rank(), dist.get_world_size()

    def numbers(dtype, *shape):
        return (torch.arange(torch.Size(shape).numel()) % 5 + rank + 1).reshape(shape).to(dtype)

    def reduced(op, dtype):
        def call(group):
            t = numbers(dtype, 3, 4)
            columns = t.t()  # not contiguous
            dist.all_reduce(columns, op, group=group)
            r = numbers(dtype, 7)
            dist.reduce(r, size - 1, op, group=group)
            return [t, r] if rank == size - 1 else [t]

        return call

    for dtype in TYPES:
        for op in OPS:
            alike(reduced(op, dtype), gloo)
    for dtype in (torch.float16, torch.bfloat16):
        t = torch.full((9,), rank + 1.0, dtype=dtype)
        dist.all_reduce(t)
        assert t.tolist() == [size * (size + 1) / 2] * 9 and t.dtype == dtype
    for dtype in (torch.complex64, torch.complex128):
        t = torch.full((3,), complex(rank, 1), dtype=dtype)
        dist.all_reduce(t)
        assert t.tolist() == [complex(size * (size - 1) / 2, size)] * 3
    bits = torch.tensor([1 << rank, 1])
    dist.all_reduce(bits, dist.ReduceOp.BOR)
    assert bits.tolist() == [(1 << size) - 1, 1]
    mean = torch.tensor([float(2 * rank)])
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    assert mean.tolist() == [size - 1]

    def moved(dtype, root):
        def call(group):
            t = numbers(dtype, 2, 3)
            dist.broadcast(t, root, group=group)
            every = [torch.zeros(5, dtype=dtype) for _ in range(size)]
            dist.all_gather(every, numbers(dtype, 5), group=group)
            into = [torch.zeros(2, 2, dtype=dtype) for _ in range(size)] if rank == root else None
            dist.gather(numbers(dtype, 2, 2), into, root, group=group)
            part = torch.zeros(4, dtype=dtype)
            parts = [numbers(dtype, 4) + r for r in range(size)] if rank == root else None
            dist.scatter(part, parts, root, group=group)
            return [t, *every, *(into or []), part]

        return call

    for dtype in (torch.float32, torch.int64, torch.float16):
        for root in {0, size - 1}:
            alike(moved(dtype, root), gloo)
    flag = torch.tensor([rank == 0, True])
    dist.broadcast(flag, 0)
    assert flag.tolist() == [True, True]
    small = torch.full((2,), rank + 0.5, dtype=torch.bfloat16)  # Gloo has none
    dist.broadcast(small, size - 1)
    assert small.tolist() == [size - 0.5] * 2
    parts = [torch.full((3,), float(10 * rank + r)) for r in range(size)]
    mine, total = torch.empty(3), size * (size - 1) / 2
    dist.reduce_scatter(mine, parts)
    assert mine.tolist() == [10 * total + size * rank] * 3
    base = getattr(dist, "reduce_scatter_tensor", None) or dist._reduce_scatter_base
    base(mine, torch.cat(parts))
    assert mine.tolist() == [10 * total + size * rank] * 3
    gathered = torch.empty(3 * size)
    (getattr(dist, "all_gather_into_tensor", None) or dist._all_gather_base)(gathered, mine)
    assert gathered.tolist() == [10 * total + size * r for r in range(size) for _ in range(3)]
    got = [torch.empty(3) for _ in range(size)]
    dist.all_to_all(got, parts)
    assert [t[0].item() for t in got] == [10 * r + rank for r in range(size)]
    sends = [r + 1 for r in range(size)]
    out = torch.empty(size * (rank + 1), dtype=torch.int64)
    source = torch.cat([torch.full((n,), 100 * rank + n) for n in sends])
    dist.all_to_all_single(out, source, [rank + 1] * size, sends)
    assert out.tolist() == [100 * r + rank + 1 for r in range(size) for _ in range(rank + 1)]
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank})
    assert objects == [{"rank": r, "text": "x" * r} for r in range(size)]
    dist.barrier()


def works(gloo):
    size = dist.get_world_size()
    tensors = [torch.full((n,), 1.0) for n in (1, 5, 100_000, 7)]
    started = [dist.all_reduce(t, async_op=True) for t in tensors]
    futures = [work.get_future() for work in started[:2]]
    for work in reversed(started):
        assert work.wait() and work.is_completed() and work.is_success()
    assert torch.equal(futures[1].wait()[0], torch.full((5,), float(size)))
    assert all(torch.equal(t, torch.full_like(t, size)) for t in tensors)
    work = dist.all_reduce(tensors[2], async_op=True)
    while not work.is_completed():  # which ends although nobody waits
        time.sleep(0)
    done = threading.Event()
    dist.all_reduce(tensors[2], async_op=True).get_future().then(lambda f: done.set())
    assert done.wait(60)
    late = timedelta(milliseconds=30)
    if size > 1 and dist.get_rank() == 0:
        work = dist.all_reduce(torch.zeros(1), async_op=True)
        refused(gaspi.Timeout, lambda: work.wait(late), "allreduce", "0.03 s")
        dist.send(torch.zeros(1), 1)
        work.wait()
    elif size > 1:
        if dist.get_rank() == 1:
            dist.recv(torch.zeros(1), 0)
        dist.all_reduce(torch.zeros(1))


class AtOnce:
    """Options of a call that waits at once, as versions of torch after 1.13 have them."""

    asyncOp, reduceOp, rootRank = False, dist.ReduceOp.SUM, 0  # noqa: N815


def large(gloo):
    """Tensors that are cut into segments, several of them under way at a time."""
    rank, size = dist.get_rank(), dist.get_world_size()

    def numbers(n):
        return (torch.arange(n) % 1000 + rank).to(torch.float32)

    def total(n):
        return (torch.arange(n) % 1000 * size + size * (size - 1) // 2).to(torch.float32)

    lengths = (70_000, 300_000, 100_000, 1, 900_000, 65_536, 2_000_000, 80_000)
    tensors = [numbers(n) for n in lengths]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    assert all(work.wait() for work in reversed(works))
    assert all(torch.equal(t, total(n)) for t, n in zip(tensors, lengths))
    columns = numbers(600_000).view(600, 1000).t()
    dist.all_reduce(columns)
    assert torch.equal(columns, total(600_000).view(600, 1000).t())
    for opts in (None, AtOnce()):
        t, mean = numbers(500_000), dist.AllreduceOptions()
        dist.group.WORLD.allreduce([t], opts).wait()
        assert torch.equal(t, total(500_000))
        mean.reduceOp = dist.ReduceOp.AVG
        dist.group.WORLD.allreduce([t], mean).wait()  # of what all have
        assert torch.equal(t, total(500_000))


def at_once(gloo):
    """Such calls are carried out, also while others go on, and their works have ended."""
    group, rank, size = dist.group.WORLD, dist.get_rank(), dist.get_world_size()
    long = torch.full((300_000,), 1.0)
    work = dist.all_reduce(long, async_op=True)
    columns = torch.full((3, 4), rank + 1).t()
    ended = group.allreduce([columns], AtOnce())
    assert columns.eq(size * (size + 1) // 2).all() and ended.is_completed() and ended.is_success() and ended.wait()
    assert ended.result()[0] is columns and ended.get_future().wait()[0] is columns and ended.exception() is None
    root = torch.tensor([rank == 0])
    group.broadcast([root], AtOnce())
    every = torch.empty(2 * size)
    group._allgather_base(every, torch.full((2,), float(rank)), AtOnce())
    assert root.item() and every.tolist() == [float(r) for r in range(size) for _ in range(2)]
    work.wait()
    assert long.eq(size).all()
    outs, ins = [torch.empty(size * n) for n in (1, 2)], [torch.full((n,), float(rank)) for n in (1, 2)]
    for opts in (AtOnce(), None):
        group.allgather_into_tensor_coalesced(outs, ins, opts).wait()
        assert [out.tolist() for out in outs] == [[float(r) for r in range(size) for _ in range(n)] for n in (1, 2)]
    refused(TypeError, lambda: group.allreduce([torch.tensor([True])], AtOnce()), "bool")
    group.barrier(AtOnce())

    # Functions of torch wait at once too, unless they are told not to.
    started, made = [], gaspi.torch.CollectiveWork

    def start(group, handle, alive, finish, result, what):
        started.append(what)
        return made(group, handle, alive, finish, result, what)

    gaspi.torch.CollectiveWork = start
    try:
        t = torch.ones(2)
        dist.all_reduce(t)
        dist.broadcast(t, 0)
        dist.all_gather([torch.empty(2) for _ in range(size)], t)
        dist.reduce_scatter(torch.empty(2), [t] * size)
        dist.all_to_all([torch.empty(2) for _ in range(size)], [t] * size)
        dist.barrier()
        assert not started, started
        dist.all_reduce(t, async_op=True).wait()
        assert started == ["allreduce"], started
    finally:
        gaspi.torch.CollectiveWork = made


def mistakes(gloo):
    size, rank = dist.get_world_size(), dist.get_rank()
    refused(TypeError, lambda: dist.all_reduce(torch.tensor([True]), async_op=True), "bool")
    refused(TypeError, lambda: dist.all_reduce(torch.zeros(1), dist.ReduceOp.BAND), "band", "integers")
    refused(TypeError, lambda: dist.all_reduce(torch.zeros(1, dtype=torch.int32), dist.ReduceOp.AVG), "average")
    refused(TypeError, lambda: dist.all_reduce(torch.zeros(2).to_sparse()), "dense")
    refused(ValueError, lambda: dist.group.WORLD.send([torch.zeros(1)], rank, 0), "another member")
    refused(ValueError, lambda: dist.all_to_all_single(torch.zeros(size), torch.zeros(size), [size] + [0] * (size - 1), [1] * (size + 1)))
    dist.barrier()


def messages(gloo):
    rank, size = dist.get_rank(), dist.get_world_size()
    if size == 1:
        return
    right, left = (rank + 1) % size, (rank - 1) % size
    never = dist.irecv(torch.zeros(1), right, tag=99)
    refused(gaspi.Timeout, lambda: never.wait(timedelta(milliseconds=150)), "recv", "tag 99", "0.15 s")
    for n in (1, 1000, 1_000_000):
        t, got = torch.full((n,), float(rank)), torch.empty(n)
        sent = dist.isend(t, right)
        dist.recv(got, left)
        sent.wait()
        assert torch.equal(got, torch.full((n,), float(left)))
    works = [dist.isend(torch.tensor([tag + rank]), right, tag=tag) for tag in range(5)]
    for tag in (3, 0, 4, 1, 2):  # in another order than they were sent in
        got = torch.zeros(1, dtype=torch.int64)
        dist.recv(got, left, tag=tag)
        assert got.item() == tag + left
    for work in works:
        work.wait()
    if rank == 0:
        seen = set()
        for _ in range(size - 1):
            got = torch.zeros(2)
            seen.add((dist.recv(got, tag=7), int(got[0])))
        assert seen == {(r, r) for r in range(1, size)}, seen
    else:
        dist.send(torch.full((2,), float(rank)), 0, tag=7)
    ops = [dist.P2POp(dist.isend, torch.full((3,), rank), right), dist.P2POp(dist.irecv, torch.zeros(3, dtype=torch.int64), left)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    assert ops[1].tensor.tolist() == [left] * 3
    dist.barrier()
    if rank == 0:
        dist.send(torch.zeros(3), 1, tag=9)
    elif rank == 1:
        refused(RuntimeError, lambda: dist.recv(torch.zeros(2), 0, tag=9), "12 bytes", "8 bytes")
    dist.barrier()


def subgroups(gloo):
    rank, size = dist.get_rank(), dist.get_world_size()
    for ranks in ([0], list(range(0, size, 2)), list(range(1, size))):
        if not ranks:
            continue
        group = dist.new_group(ranks)
        if rank in ranks:
            t = torch.tensor([rank])
            dist.all_reduce(t, group=group)
            assert t.item() == sum(ranks) and dist.get_world_size(group) == len(ranks)
            if len(ranks) > 1:
                t = torch.tensor([rank])
                dist.broadcast(t, ranks[-1], group=group)
                assert t.item() == ranks[-1]
        dist.barrier()


def network():
    """More than the 1 MiB of DDP's first bucket."""
    torch.manual_seed(7)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2200), nn.ReLU(), nn.Linear(2200, 10))


def flat(tensors):
    return torch.cat([t.detach().reshape(-1) for t in tensors])


def backward(model, images, kinds):
    """Gradients of a batch, as one vector."""
    model.zero_grad()
    nn.functional.cross_entropy(model(images), kinds).backward()
    return flat(p.grad for p in model.parameters())


def trained(group, hook=None, views=False, compared=None):
    """Parameters after some steps of training. compared is a group by which the gradients are averaged as well."""
    size = dist.get_world_size()
    model = DDP(network(), process_group=group, bucket_cap_mb=0.05, gradient_as_bucket_view=views)
    if hook is not None:
        model.register_comm_hook(hook, gaspi.torch.bucket_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    torch.manual_seed(dist.get_rank())
    for _ in range(4):
        batch = torch.randn(4, 1, 8, 8), torch.randint(10, (4,))
        if compared is not None:
            with model.no_sync():
                mean = backward(model, *batch) / size
            most = mean.abs()
            dist.all_reduce(mean, group=compared)
            dist.all_reduce(most, group=compared)
        averaged = backward(model, *batch)
        if compared is not None:
            # Each sum has a rounding per addition and per product with 1/size, relative to the sum of the absolute
            # values, and so has the other; 2 ** -24 is half a unit in the last place.
            assert ((averaged - mean).abs() <= 2 * (size + 1) * 2**-24 * most).all()
            assert averaged.abs().max() > 0
        optimizer.step()
    return flat(model.parameters())


def training(gloo):
    """Two ranks add in one order, so that parameters are Gloo's bit for bit. More add in another order than Gloo: each
    gradient is within the roundings of one sum."""
    size = dist.get_world_size()
    theirs = trained(gloo)
    for hook, views in ((None, False), (None, True), (gaspi.torch.Buckets(), False), (gaspi.torch.Buckets(), True)):
        ours = trained(dist.group.WORLD, hook, views, compared=gloo if size > 2 else None)
        if size <= 2:
            assert torch.equal(ours, theirs)
        every = [torch.empty_like(ours) for _ in range(size)]
        dist.all_gather(every, ours)
        assert all(torch.equal(ours, other) for other in every)


def overlap(gloo):
    """Communication goes on while the backward pass runs: the first bucket has ended before the last begins."""
    seen = []

    def hook(state, bucket):
        future = gaspi.torch.bucket_hook(state, bucket)
        if bucket.index() == 0:
            future.then(lambda f: seen.append(f.value()))
        elif bucket.is_last():
            done = threading.Event()
            first[0].then(lambda f: done.set())
            assert done.wait(60), "nobody carries the first bucket on"
        first.append(future)
        return future

    model, first = DDP(network(), bucket_cap_mb=0.05), []
    model.register_comm_hook(gaspi.torch.Buckets(), hook)
    for step in range(3):
        first.clear()
        backward(model, torch.randn(4, 1, 8, 8), torch.randint(10, (4,)))
        assert step == 0 or len(first) > 1, "one bucket alone"  # the first step shows DDP their order
    assert len(seen) == 3


def killed():
    """The last rank ends in the middle of training. The others get an error that names it."""
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    model = DDP(network(), bucket_cap_mb=0.05)
    for r in range(last):  # from now on, receivers take out what comes
        if rank == last:
            dist.send(torch.zeros(1), r, tag=2)
        elif rank == r:
            dist.recv(torch.zeros(1), last, tag=2)
    try:
        for step in range(1000):
            if step == 3 and rank == last:
                for r in range(last):
                    dist.send(torch.full((1,), 7.0), r, tag=3)
                time.sleep(1)  # until these are taken out
                mail = dist.distributed_c10d._get_default_group()._mail
                for r in range(last):  # a fourth piece comes, as if it had been quicker than the third, which never does
                    mail._segment.notify(r, 2 * last + 1)
                os.kill(os.getpid(), signal.SIGKILL)
            began = time.monotonic()
            backward(model, torch.randn(4, 1, 8, 8), torch.randint(10, (4,)))
    except RuntimeError as error:
        print(f"after {time.monotonic() - began:.3f} s: {str(error).splitlines()[0]}")
        assert f"rank {last}" in str(error), error
    else:
        raise AssertionError("no error")
    got = torch.zeros(1)
    dist.recv(got, last, tag=3)  # which came before
    assert got.item() == 7
    for message in (
        lambda: dist.recv(torch.zeros(1), last),
        lambda: dist.recv(torch.zeros(1)),
        lambda: [dist.send(torch.zeros(1), last) for _ in range(5)],
    ):
        refused(gaspi.RankLost, message, f"rank {last} is gone")
    sys.stdout.flush()
    # The others still wait for their error, which a second loss would change, and rank 0 has the store.
    store = dist.distributed_c10d._get_default_store()
    store.set(f"named/{rank}", "")
    store.wait([f"named/{r}" for r in range(last)], timedelta(seconds=60))
    right, left = (rank + 1) % last, (rank - 1) % last
    for n in (1, 500_000):  # those that are left go on
        sent = dist.isend(torch.full((n,), float(rank)), right, tag=5)
        got = torch.zeros(n)
        dist.recv(got, left, tag=5)
        sent.wait()
        assert torch.equal(got, torch.full((n,), float(left)))
    store.set(f"left/{rank}", "")
    if rank == 0:
        store.wait([f"left/{r}" for r in range(last)], timedelta(seconds=60))
    os._exit(0)


def main(names):
    torch.set_num_threads(1)
    dist.init_process_group("gaspi", timeout=timedelta(seconds=60))
    assert dist.get_backend() == "gaspi"
    if names == ["killed"]:
        killed()
    gloo = dist.new_group(backend="gloo")
    for each in (collectives, works, large, at_once, mistakes, messages, subgroups, training, overlap):
        if not names or each.__name__ in names:
            each(gloo)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
