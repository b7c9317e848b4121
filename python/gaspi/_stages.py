"""Copies of large tensors in memory that all members of a group reach.

The library adds up memory of a process in pieces, for each of which ranks wait for each other; memory of a team it adds
up at once. Where ranks share cores, each piece may cost a time slice, so that a large tensor is copied there and back.
Where ranks have cores of their own, the copies take longer than the pieces."""

from __future__ import annotations

import os
import threading
from typing import Any, Optional

import numpy as np
import torch

from ._proc import Proc
from ._team import Team, TeamMemory
from ._works import Ending

_LEAST = 1 << 18  # bytes of a tensor that is copied
_STAGES = 2  # tensors on the way; the next one waits for the first


class Stages:
    """The memory of a group. All members take the stages in turns, as they make the same calls in the same order, and
    so agree on what is made when. The lock is held from ``copy`` until the operation was started."""

    def __init__(self, proc: Proc, team: Team) -> None:
        # Equal at all members. Across hosts the library copies anyway.
        direct = os.environ.get("GASPI_TRANSPORT", "") in ("", "auto", "shm") and not os.environ.get("GASPI_EMULATE")
        crowded = proc.local_size > (os.cpu_count() or 1)
        self._used = direct and crowded and team.size > 1 and proc.local_size == proc.size
        self._team = team
        self._memory: list[Optional[tuple[TeamMemory, torch.Tensor]]] = [None] * _STAGES
        self._works: list[Optional[Ending]] = [None] * _STAGES
        self._next = 0
        self.lock = threading.Lock()

    def fit(self, nbytes: int) -> bool:
        """Whether a tensor of nbytes is to be copied."""
        return self._used and nbytes >= _LEAST

    def copy(self, tensor: torch.Tensor, calls: Any, seconds: float) -> torch.Tensor:
        """Returns a copy of a tensor, contiguous, for the operation that ``keep`` then gets. It blocks until the last
        operation of the stage has ended, and where it is too small until all members are here."""
        at, nbytes = self._next, tensor.numel() * tensor.element_size()
        self._next = (at + 1) % _STAGES
        work, self._works[at] = self._works[at], None
        if work is not None:
            work.wait()
        memory = self._memory[at]
        if memory is None or memory[0].nbytes < nbytes:
            # What is too small stays, as arrays of it may live at some members. All of it is no more than what is made.
            size = max(nbytes, 2 * memory[0].nbytes if memory else 0)
            with calls:
                made = self._team.alloc(size, np.uint8, timeout=seconds)
            memory = self._memory[at] = made, torch.from_numpy(made.array)
        return memory[1][:nbytes].view(tensor.dtype).view(tensor.shape).copy_(tensor)

    def keep(self, work: Ending) -> None:
        """Says which operation uses the copy."""
        self._works[self._next - 1] = work
