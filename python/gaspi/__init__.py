"""Ranks that write into each other's memory, for numpy: GASPI, collective operations, objects and stale reductions.

    import gaspi, numpy as np

    with gaspi.init() as proc:                 # a rank of the job that gaspi-run started
        team = proc.team()
        print(team.allreduce(np.ones(4)))      # the sum over all ranks

Start it by ``python -m gaspi.run -n 4 script.py``. Timeouts are seconds, None for no end, 0 for a look; an interrupt
(Ctrl-C) ends a call that blocks. A process that has called ``init`` may fork, but the child cannot use the package."""

from ._errors import Error, QueueFull, RankLost, Timeout
from ._memory import Memory
from ._objects import Store, View
from ._proc import Group, Proc, Queue, current, init, initialized
from ._segment import Segment
from ._stale import Stale, StaleReduction
from ._team import Calls, Plan, Request, Team, TeamMemory

__version__ = "0.1.0"

__all__ = [
    "Calls",
    "Error",
    "Group",
    "Memory",
    "Plan",
    "Proc",
    "Queue",
    "QueueFull",
    "RankLost",
    "Request",
    "Segment",
    "Stale",
    "StaleReduction",
    "Store",
    "Team",
    "TeamMemory",
    "Timeout",
    "View",
    "current",
    "init",
    "initialized",
]
