"""Ranks that wait for each other for ever, each in the call that it is given."""

import sys

import numpy as np

import gaspi


def main():
    with gaspi.init() as proc:
        seg, team = proc.segment(0, (8,)), proc.team()
        for _ in range(3):
            team.allreduce(np.zeros(3))
            team.barrier()
        call = sys.argv[1:][proc.rank]
        if call == "wait_some":
            seg.wait_some(3)
        elif call == "barrier":
            proc.barrier()
        elif call == "allreduce":
            team.allreduce(np.zeros(3))
        elif call == "passive_receive":
            seg.passive_receive(seg.array[:1])


main()
