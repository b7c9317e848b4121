"""Memory of the library as arrays."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Optional

import numpy as np

from ._arrays import Array, Shape, shape_of
from ._errors import Error


_NOWHERE = 4096  # the address of no bytes: numpy takes none that is 0, and nobody reads there


class _Owner:
    """The base of all arrays of a block of memory. While it lives, so does the block."""

    __slots__ = ("__array_interface__", "__weakref__", "keep")

    def __init__(self, address: int, nbytes: int, writes: bool, keep: Any) -> None:
        address = address or _NOWHERE
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, not writes)}
        self.keep = keep


class Memory:
    """A block of memory that is not numpy's. Its arrays keep it: what gives it back is refused while one lives."""

    def __init__(self, address: int, shape: Shape, dtype: Any, nbytes: int, what: str, writes: bool = True) -> None:
        self._address = address
        self._shape, self._dtype = shape_of(shape), np.dtype(dtype)
        self._writes = writes
        self._what = what
        self._owner: Optional[weakref.ref[_Owner]] = None
        self._gone = False
        self._lock = threading.Lock()  # of the two above: another thread may look while this one gives back
        self.nbytes = nbytes
        """Bytes of the block."""

    @property
    def array(self) -> Array:
        """The elements, with the shape and dtype that the block was made with. It is no copy."""
        return self.bytes[: self._dtype.itemsize * int(np.prod(self._shape))].view(self._dtype).reshape(self._shape)

    @property
    def bytes(self) -> Array:
        """The bytes of the block, as an array of uint8. It is no copy."""
        with self._lock:
            if self._gone:
                raise Error(f"{self._what} was given back")
            owner = self._owner() if self._owner else None
            if owner is None:
                owner = _Owner(self._address, self.nbytes, self._writes, self._keep())
                self._owner = weakref.ref(owner)
        return np.asarray(owner)

    def _keep(self) -> Any:
        """What the arrays keep alive."""
        return None

    def _give_back(self) -> None:
        """Marks the block as given back. Error if an array of it lives."""
        with self._lock:
            if self._gone:
                raise Error(f"{self._what} was given back already")
            if self.used:
                raise Error(f"{self._what} is used by an array of this process: drop it and its views (del a) first")
            self._gone = True

    @property
    def used(self) -> bool:
        """Whether an array of the block lives, or a view of one."""
        return self._owner is not None and self._owner() is not None
