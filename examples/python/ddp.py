"""Training of a small convolutional network by DistributedDataParallel:

    PYTHONPATH=python python3 -m gaspi.run -n 4 examples/python/ddp.py
    PYTHONPATH=python torchrun --nproc_per_node 4 examples/python/ddp.py

Pictures of 12 x 12 points with noise show a bar that lies, stands, rises or falls. Each rank has pictures of its own, and
gradients are averaged while the backward pass runs, in memory that all ranks reach (bucket_hook)."""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import gaspi.torch

SIDE = 12


def pictures(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures of shape (count, 1, SIDE, SIDE), and what they show, 0 to 3."""
    kinds = torch.randint(4, (count,), generator=generator)
    images = 0.5 * torch.randn(count, 1, SIDE, SIDE, generator=generator)
    shifts = torch.randint(-3, 4, (count,), generator=generator)
    for image, kind, shift in zip(images, kinds.tolist(), shifts.tolist()):
        along = torch.arange(SIDE)
        across = (SIDE // 2 + shift) * torch.ones(SIDE, dtype=torch.int64)
        rows, columns = [(across, along), (along, across), (along, (along + shift) % SIDE), (along, (-along + shift) % SIDE)][kind]
        image[0, rows, columns] += 1.5
    return images, kinds


def network() -> nn.Module:
    """Two layers of convolutions and one of classes."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 9, 4),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=32, help="pictures of a rank in each step")
    parser.add_argument("--backend", default="gaspi", help="of torch.distributed: gaspi or gloo")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    torch.manual_seed(1)
    model = DistributedDataParallel(network())
    if options.backend == "gaspi":
        model.register_comm_hook(gaspi.torch.Buckets(), gaspi.torch.bucket_hook)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(100 + dist.get_rank())
    for _ in range(options.steps):
        images, kinds = pictures(options.batch, generator)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), kinds).backward()
        optimizer.step()
    with torch.no_grad():
        images, kinds = pictures(256, generator)
        right = (model(images).argmax(1) == kinds).sum()
    dist.all_reduce(right)
    spread = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    least, most = spread.clone(), spread.clone()
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        share = right.item() / (256 * dist.get_world_size())
        same = "are equal" if torch.equal(least, most) else "differ"
        print(f"{share:.1%} of new pictures are told apart; parameters of the {dist.get_world_size()} ranks {same}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
