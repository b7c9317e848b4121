"""Objects with names: put once, read anywhere."""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import numpy as np

from . import _library as lib
from ._arrays import Array, Shape, check, op_of, refuse_objects, shape_of, type_of
from ._blocking import again, once
from ._errors import fail_with_text
from ._memory import Memory

if TYPE_CHECKING:
    from ._proc import Proc


class View(Memory):
    """An object that is read in place until ``release``. It is a context manager; its arrays are read-only."""

    def __init__(self, name: str, handle: int, where: int, nbytes: int, shape: Optional[Shape], dtype: Any) -> None:
        each = np.dtype(dtype).itemsize
        try:
            lengths = (nbytes // max(each, 1),) if shape is None else shape_of(shape)
            if math.prod(lengths) * each != nbytes:
                raise ValueError(f"object {name!r} has {nbytes} bytes: no array of shape {lengths} and {np.dtype(dtype)!r}")
        except BaseException:
            lib.api().gaspigo_view_release(handle)
            raise
        super().__init__(where, lengths, dtype, nbytes, f"the view of object {name!r}", writes=False)
        self._handle = handle

    def __enter__(self) -> View:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        owner = self._owner() if self._owner is not None else None
        if kind is None or owner is None and not self._gone:
            self.release()
        elif owner is not None:  # a frame that the exception ends has an array: the exception is the program's, and the array the last
            self._gone = True
            weakref.finalize(owner, lib.api().gaspigo_view_release, self._handle).atexit = False

    def release(self) -> None:
        """Lets the store have the memory back. Error while an array of it lives."""
        self._give_back()
        code = lib.api().gaspigo_view_release(self._handle)
        if code:
            fail_with_text(code, self._what)


class Store:
    """Objects with names, made by ``Proc.store``. An object is bytes that do not change: it is put once, by any rank,
    and read by all. Any thread may call. timeout is in seconds everywhere."""

    def __init__(self, proc: Proc, handle: int) -> None:
        self._proc, self._handle = proc, handle

    def _once(self, call: Callable[[int], int], what: str, timeout: Optional[float]) -> None:
        from ._team import error_of

        once(lambda ms: error_of(call(ms), what), timeout)

    def put(self, name: str, array: Array, timeout: Optional[float] = None) -> None:
        """Stores a copy of an array under a name. It blocks until the others can find it, and while there is no room.
        Shape and dtype are not stored."""
        array = check(array, f"object {name!r}", writes=False)
        refuse_objects(array.dtype, f"object {name!r}")
        put, where, named = lib.api().gaspigo_put, array.ctypes.data, lib.encoded(name, "object")
        self._once(lambda ms: put(self._handle, named, where, array.nbytes, ms), f"put of object {name!r}", timeout)

    def view(
        self, name: str, dtype: Any = np.uint8, shape: Optional[Shape] = None, timeout: Optional[float] = None
    ) -> View:
        """Blocks until an object was put and is here, and returns it to be read in place. The array has this dtype and
        shape, by default one axis."""
        handle, where, size = ctypes.c_ulong(), ctypes.c_void_p(), ctypes.c_ulong()
        refuse_objects(np.dtype(dtype), f"object {name!r}")
        view, named = lib.api().gaspigo_view, lib.encoded(name, "object")
        self._once(lambda ms: view(self._handle, named, ms, handle, where, size), f"get of object {name!r}", timeout)
        return View(name, handle.value, where.value or 0, size.value, shape, dtype)

    def get(
        self, name: str, dtype: Any = np.uint8, shape: Optional[Shape] = None, timeout: Optional[float] = None
    ) -> Array:
        """As ``view``, and returns a copy."""
        with self.view(name, dtype, shape, timeout) as seen:
            return seen.array.copy()

    def delete(self, name: str, timeout: Optional[float] = None) -> None:
        """Removes an object at all ranks. One that does not exist is no error."""
        delete, named = lib.api().gaspigo_delete, lib.encoded(name, "object")
        self._once(lambda ms: delete(self._handle, named, ms), f"delete of object {name!r}", timeout)

    def reduce(
        self,
        target: str,
        names: Sequence[str],
        dtype: Any,
        op: str = "sum",
        first: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> list[str]:
        """Makes object target of the objects names, element by element, or of the ``first`` that are there. They have
        one size. Returns the names of those that were used. It blocks until target can be read."""
        like: Array = np.empty(0, dtype)
        kind, number = type_of(like, f"reduction {target!r}"), op_of(op, like, f"reduction {target!r}")
        if first is not None and not 1 <= first <= len(names):
            raise ValueError(f"reduction {target!r}: first={first}; want 1 to {len(names)}, the number of objects")
        listed, used = _names(names, f"reduction {target!r}"), (ctypes.c_ubyte * len(names))()
        reduce, named = lib.api().gaspigo_store_reduce, lib.encoded(target, "object")
        self._once(
            lambda ms: reduce(self._handle, named, listed, len(names), first or 0, kind, number, ms, used),
            f"reduction {target!r}",
            timeout,
        )
        return [name for name, taken in zip(names, used) if taken]

    def wait(self, names: Sequence[str], timeout: Optional[float] = None) -> str:
        """Blocks until one of some objects is complete at some rank, and returns its name."""
        listed, which = _names(names, "wait for objects"), ctypes.c_ulong()
        wait = lib.api().gaspigo_store_wait
        code = again(lambda ms: wait(self._handle, listed, len(names), ms, which), timeout)
        if code:
            fail_with_text(code, f"wait for objects {list(names)}")
        return names[which.value]

    def close(self, timeout: Optional[float] = None) -> None:
        """Closes the store, which all of its ranks do. It blocks."""
        code = again(lambda ms: lib.api().gaspigo_store_close(self._handle, ms), timeout)
        if code:
            fail_with_text(code, "close of a store")


def _names(names: Sequence[str], what: str) -> Any:
    if not names:
        raise ValueError(f"{what}: no names; want at least one")
    return (ctypes.c_char_p * len(names))(*(lib.encoded(name, "object") for name in names))
