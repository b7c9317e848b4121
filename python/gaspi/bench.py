"""Times of allreduce on tensors and of training steps, beside Gloo's: ``python -m gaspi.bench [--ranks 2,4]``.

Both backends are measured in one job, by the same processes, in turns. A turn has some calls between two barriers, and
its time is that of the slowest rank, divided by the calls. Figures are medians over the rounds, each of which has a turn
of every backend; the ratio is the median of those of the rounds, with the least and the most of them.

Arguments after ``--`` are flags of gaspi-run, such as ``-- --transport tcp``. Nothing is built: libgaspi.so and gaspi-run
are found as gaspi.run does, by GASPI_LIBRARY and GASPI_RUN or beside the package."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

from . import run

_SIZES = "8,64,512,4K,32K,256K,1M,4M,16M,64M"
_ROUNDS = 5
_ATLEAST = 0.02  # seconds of a turn
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Call = Callable[[], Any]
Times = dict[str, list[float]]  # seconds of each round, by what was measured


def _bytes(text: str) -> int:
    """Bytes, as 8, 4K or 64M."""
    unit = _UNITS.get(text[-1:].upper(), 1)
    number = int(text[:-1] if unit > 1 else text)
    if number < 1 or number * unit % 4:
        raise ValueError(f"{text} bytes; want a multiple of 4, such as 8, 4K or 64M")
    return number * unit


def _text(nbytes: int) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= scale and nbytes % scale == 0:
            return f"{nbytes // scale} {unit}"
    return f"{nbytes} B"


def _seconds(call: Call, repeats: int) -> float:
    """Seconds of a call, at this rank."""
    import torch.distributed as dist

    dist.barrier()
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


def _everywhere(value: float, least: bool = False) -> float:
    """The most of the ranks' values, or the least."""
    import torch
    import torch.distributed as dist

    cell = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(cell, dist.ReduceOp.MIN if least else dist.ReduceOp.MAX)
    return float(cell.item())


def _measure(calls: dict[str, Call], rounds: int) -> Times:
    """Times of some calls in turns, the first of which changes from round to round. A slow call is made once a turn."""
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = int(max(1, min(1000, _ATLEAST / _everywhere(_seconds(call, 2)))))
    times: Times = {name: [] for name in calls}
    names = list(calls)
    for number in range(rounds):
        for at in range(len(names)):
            name = names[(number + at) % len(names)]
            times[name].append(_everywhere(_seconds(calls[name], repeats[name])))
    return times


def _row(name: str, times: Times, **more: Any) -> dict[str, Any]:
    """A row of the table: medians in microseconds, and how many times as long Gloo takes."""
    ratios = [theirs / ours for ours, theirs in zip(times["gaspi"], times["gloo"])]
    row: dict[str, Any] = {"name": name, **more, "rounds": len(ratios)}
    for each, seconds in times.items():
        row[f"{each}_us"] = round(statistics.median(seconds) * 1e6, 2)
    row.update(ratio=round(statistics.median(ratios), 2), ratio_least=round(min(ratios), 2), ratio_most=round(max(ratios), 2))
    return row


class _Table:
    """What rank 0 prints, as a table, and into a file, as lines of JSON."""

    def __init__(self, first: bool, ranks: int, path: str, about: dict[str, Any]) -> None:
        self._first, self._path, self._about = first, path, {"ranks": ranks, **about}
        self._print(f"\n| {ranks} ranks | gaspi, us | gloo, us | gloo / gaspi | least | most |\n|---|---|---|---|---|---|")

    def _print(self, line: str) -> None:
        if self._first:
            print(line, flush=True)

    def add(self, row: dict[str, Any], note: str = "") -> None:
        """Adds a row."""
        cells = [row["name"] + note, f"{row['gaspi_us']:,.1f}", f"{row['gloo_us']:,.1f}"]
        self._print("| " + " | ".join([*cells, *(f"{row[key]:.1f}" for key in ("ratio", "ratio_least", "ratio_most"))]) + " |")
        if self._first and self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps({**self._about, **row}) + "\n")


def rank(options: argparse.Namespace) -> None:
    """The part of one rank."""
    import torch
    import torch.distributed as dist

    import gaspi.torch

    torch.set_num_threads(1)
    dist.init_process_group("gaspi")
    groups = {"gaspi": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    about = {"torch": torch.__version__, "processors": os.cpu_count(), "flags": " ".join(options.flags)}
    table = _Table(dist.get_rank() == 0, dist.get_world_size(), options.json, about)
    for nbytes in map(_bytes, filter(None, options.sizes.split(","))):
        tensor = torch.zeros(nbytes // 4)
        calls = {name: (lambda g=group: dist.all_reduce(tensor, group=g)) for name, group in groups.items()}
        table.add(_row(f"allreduce of {_text(nbytes)}", _measure(calls, options.rounds), bytes=nbytes))
    if not options.no_steps:
        for name, hook in (("step of DDP", None), ("step of DDP, bucket_hook", gaspi.torch.Buckets())):
            by = {"gaspi": (groups["gaspi"], hook), "gloo": (groups["gloo"], None), "alone": (None, None)}
            steps = {each: _training(options.width, *how) for each, how in by.items()}
            row = _row(name, _measure(steps, options.rounds), parameters=_parameters(_network(options.width)))
            table.add(row, f" ({row['alone_us']:,.0f} us without DDP)")
    dist.barrier()
    dist.destroy_process_group()


def _network(width: int) -> Any:
    from torch import nn

    return nn.Sequential(nn.Linear(1024, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1024))


def _parameters(network: Any) -> int:
    return sum(p.numel() for p in network.parameters())


def _training(width: int, group: Any, hook: Any) -> Call:
    """A step of training, with gradients averaged over a group unless it is None."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    import gaspi.torch

    torch.manual_seed(1)
    model = _network(width)
    if group is not None:
        model = DistributedDataParallel(model, process_group=group)
    if hook is not None:
        model.register_comm_hook(hook, gaspi.torch.bucket_hook)
    optimizer, batch = torch.optim.SGD(model.parameters(), lr=0.01), torch.randn(8, 1024)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()

    step()  # after which DDP makes its buckets anew
    return step


def main() -> None:
    """Starts a job for each number of ranks."""
    parser = argparse.ArgumentParser(
        prog="python -m gaspi.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, by commas (%(default)s)")
    parser.add_argument("--sizes", default=_SIZES, help="bytes of tensors, by commas (%(default)s)")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="how often each backend has its turn (%(default)s)")
    parser.add_argument("--width", type=int, default=2048, help="of the hidden layers of the network (%(default)s)")
    parser.add_argument("--no-steps", action="store_true", help="no steps of DistributedDataParallel")
    parser.add_argument("--json", default="", metavar="FILE", help="rows as lines of JSON, too; the file is made anew")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("flags", nargs="*", metavar="-- FLAG", help="flags of gaspi-run")
    options = parser.parse_args()
    if options.rank:
        rank(options)
        return
    try:
        for size in filter(None, options.sizes.split(",")):
            _bytes(size)
        for name in ("rounds", "width"):
            if getattr(options, name) < 1:
                raise ValueError(f"--{name} {getattr(options, name)}; want 1 or more")
        if options.json:
            options.json = os.path.abspath(options.json)
            open(options.json, "w", encoding="utf-8").close()
        for ranks in options.ranks.split(","):
            measured = ["--rank", "--sizes", options.sizes, "--rounds", str(options.rounds), "--json", options.json]
            measured += ["--width", str(options.width), *(["--no-steps"] if options.no_steps else [])]
            line = ["-n", ranks, "--output", "raw", *options.flags, "-m", "gaspi.bench", *measured, "--", *options.flags]
            ended = subprocess.run(run.command(line), env=run.environment())
            if ended.returncode:
                sys.exit(ended.returncode)
    except (OSError, ValueError) as why:
        sys.exit(f"gaspi.bench: {why}")


if __name__ == "__main__":
    main()
