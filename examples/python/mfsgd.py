"""Matrix factorization with stale reductions:

    PYTHONPATH=python python3 -m gaspi.run -n 4 examples/python/mfsgd.py --slack 2

Ratings R of users for items are approximated by U V: each rank has the users of its block of rows, and all ranks the
items. A rank adds up what its users would change of V, and a stale reduction adds the totals of all ranks, of which none
is more than slack steps old. So a slow rank holds up the others only when it is further behind."""

from __future__ import annotations

import argparse

import numpy as np

import gaspi


def ratings(users: int, items: int, rank: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a rank, of a matrix of rank 3 with noise, and which of them are known (a fifth)."""
    random = np.random.default_rng(1)
    whole = random.normal(size=(users, 3)) @ random.normal(size=(3, items)) + 0.05 * random.normal(size=(users, items))
    known = random.random((users, items)) < 0.2
    mine = slice(users * rank // size, users * (rank + 1) // size)
    return whole[mine], known[mine]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--factors", type=int, default=6)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--slack", type=int, default=2, help="how many steps old a contribution may be")
    parser.add_argument("--rate", type=float, default=0.01, help="of the gradient that a step takes")
    options = parser.parse_args()
    with gaspi.init() as proc:
        wanted, known = ratings(options.users, options.items, proc.rank, proc.size)
        random = np.random.default_rng(2)
        start = random.normal(scale=0.3, size=(options.factors, options.items))
        mine = np.random.default_rng(3 + proc.rank).normal(scale=0.3, size=(len(wanted), options.factors))
        change, items, oldest = np.zeros_like(start), start, 0
        reduction = proc.stale_reduction(start.shape, start.dtype, slack=options.slack)
        for step in range(1, options.steps + 1):
            missing = known * (wanted - mine @ items)
            gradient = mine.T @ missing
            mine += options.rate * missing @ items.T
            change += options.rate * gradient
            result = reduction.allreduce(change)
            items = start + result.array
            oldest = max(oldest, step - result.oldest)
        team = proc.team()
        error = team.allreduce(np.array([np.square(known * (wanted - mine @ items)).sum(), known.sum()]))
        if proc.rank == 0:
            root = np.sqrt(error[0] / error[1])
            print(f"root mean square error {root:.3f} after {options.steps} steps; contributions were {oldest} steps old at most")
        reduction.close()
        proc.barrier()


if __name__ == "__main__":
    main()
