"""Times of allreduce on tensors beside Gloo's: ``python -m gaspi.bench [--ranks 2,4] [--transport shm] [--steps]``.

Both backends are measured in one job, in turns, from barrier to barrier. Each figure is the median over the turns of the
slowest rank's time for one call."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

from . import run

_SIZES = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
_TURNS = 9
_ATLEAST = 0.01  # seconds of a turn


def _seconds(call: Callable[[], Any], repeats: int, ready: Callable[[], Any]) -> float:
    ready()
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


def _text(nbytes: int) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= scale:
            return f"{nbytes // scale} {unit}"
    return f"{nbytes} B"


def _compare(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Medians of the slowest rank's times, in seconds."""
    import torch
    import torch.distributed as dist

    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_TURNS):
        for name, call in calls.items():
            slowest = torch.tensor([_seconds(call, repeats, dist.barrier)], dtype=torch.float64)
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            times[name].append(slowest.item())
    return {name: statistics.median(each) for name, each in times.items()}


def _repeats(call: Callable[[], Any]) -> int:
    """How many calls a turn has, at all ranks alike."""
    import torch
    import torch.distributed as dist

    call()
    count = torch.tensor([max(1, min(1000, int(_ATLEAST / _seconds(call, 3, dist.barrier))))])
    dist.all_reduce(count, dist.ReduceOp.MIN)
    return int(count.item())


def _row(name: str, times: dict[str, float]) -> str:
    return f"| {name} | {times['gaspi'] * 1e6:,.1f} | {times['gloo'] * 1e6:,.1f} | {times['gloo'] / times['gaspi']:.1f} |"


def rank(steps: bool) -> None:
    """The part of one rank."""
    import torch
    import torch.distributed as dist

    import gaspi.torch

    torch.set_num_threads(1)
    dist.init_process_group("gaspi")
    groups = {"gaspi": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    first = dist.get_rank() == 0
    if first:
        print(f"\n{dist.get_world_size()} ranks\n\n| | gaspi, us | gloo, us | gloo / gaspi |\n|---|---|---|---|", flush=True)
    for nbytes in _SIZES:
        tensor = torch.zeros(nbytes // 4)
        calls = {name: (lambda g=group: dist.all_reduce(tensor, group=g)) for name, group in groups.items()}
        times = _compare(calls, _repeats(calls["gloo"]))
        if first:
            print(_row(f"allreduce of {_text(nbytes)}", times), flush=True)
    if steps:
        models = {name: _training(group, None) for name, group in groups.items()}
        times = _compare(models, 3)
        if first:
            print(_row("step of DDP, 8 M parameters", times), flush=True)
        models["gaspi"] = _training(groups["gaspi"], gaspi.torch.Buckets())
        times = _compare(models, 3)
        if first:
            print(_row("step of DDP, 8 M parameters, bucket_hook", times), flush=True)


def _training(group: Any, hook: Any) -> Callable[[], None]:
    """A step of training."""
    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    import gaspi.torch

    layers = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 1024))
    model = DistributedDataParallel(layers, process_group=group)
    if hook is not None:
        model.register_comm_hook(hook, gaspi.torch.bucket_hook)
    optimizer, batch = torch.optim.SGD(model.parameters(), lr=0.01), torch.randn(8, 1024)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()

    step()
    return step


def main() -> None:
    """Starts a job for each number of ranks."""
    parser = argparse.ArgumentParser(prog="python -m gaspi.bench", description=__doc__)
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, by commas")
    parser.add_argument("--transport", default="auto", help="transport of gaspi-run")
    parser.add_argument("--emulate", default="", help="network of gaspi-run --emulate")
    parser.add_argument("--steps", action="store_true", help="steps of DistributedDataParallel, too")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        rank(options.steps)
        return
    for ranks in options.ranks.split(","):
        flags = ["-n", ranks, "--transport", options.transport, "--output", "raw"]
        if options.emulate:
            flags += ["--emulate", options.emulate]
        line = [*flags, "-m", "gaspi.bench", "--rank", *(["--steps"] if options.steps else [])]
        try:
            ended = subprocess.run(run.command(line), env=run.environment())
        except (OSError, ValueError) as why:
            sys.exit(f"gaspi.bench: {why}")
        if ended.returncode:
            sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
