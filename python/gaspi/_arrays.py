"""Arrays of numpy as the library takes them."""

from __future__ import annotations

import math
import operator
from typing import Any, Iterable, Sequence, Union

import numpy as np

Array = np.ndarray[Any, Any]
Shape = Union[int, Sequence[int]]

# gaspigo_type_t by the name of a dtype. numpy knows bfloat16 where package ml_dtypes is imported.
TYPES = {
    "int8": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "uint8": 4,
    "uint16": 5,
    "uint32": 6,
    "uint64": 7,
    "float16": 8,
    "bfloat16": 9,
    "float32": 10,
    "float64": 11,
    "complex64": 12,
    "complex128": 13,
}

# gaspigo_op_t by name.
OPS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6}

BYTES = TYPES["uint8"]


def type_of(array: Array, what: str) -> int:
    """The gaspigo_type_t of an array's elements. TypeError says which there are."""
    kind = TYPES.get(array.dtype.name)
    if kind is None or not array.dtype.isnative:
        raise TypeError(f"{what}: elements of {array.dtype!r}; want one of {', '.join(TYPES)}, in this machine's byte order")
    return kind


def op_of(op: str, array: Array, what: str) -> int:
    """The gaspigo_op_t of a name. ValueError says which there are, TypeError which fit the elements."""
    number = OPS.get(op)
    if number is None:
        raise ValueError(f"{what}: operation {op!r}; want one of {', '.join(OPS)}")
    kind = array.dtype.kind
    if op in ("and", "or", "xor") and kind not in "iu":
        raise TypeError(f"{what}: operation {op!r} of {array.dtype.name}; want integers")
    if op in ("min", "max") and kind == "c":
        raise TypeError(f"{what}: operation {op!r} of {array.dtype.name}; complex numbers have no order")
    return number


def check(array: Any, what: str, writes: bool) -> Array:
    """Returns the array if the library can read it, and write it, in place."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{what}: {type(array).__name__}; want a numpy array")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what}: the array is not contiguous; pass numpy.ascontiguousarray(...), or a block of it")
    if writes and not array.flags.writeable:
        raise ValueError(f"{what}: the array is read-only, and the result goes there")
    return array


def address(array: Array) -> int:
    """Where the elements begin."""
    where: int = array.__array_interface__["data"][0]
    return where


def shape_of(shape: Shape) -> tuple[int, ...]:
    """A shape as a tuple."""
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    try:
        whole = tuple(operator.index(n) for n in lengths)
    except TypeError:
        raise TypeError(f"shape {shape!r}: want whole numbers") from None
    if any(n < 0 for n in whole):
        raise ValueError(f"shape {lengths}: want lengths from 0")
    return whole


def size_of(shape: Shape, dtype: Any) -> int:
    """The bytes of an array in memory that other ranks reach. TypeError if it has objects."""
    elements = np.dtype(dtype)
    refuse_objects(elements, "memory of a rank")
    size = math.prod(shape_of(shape)) * elements.itemsize
    if size >= 2**63:
        raise ValueError(f"shape {shape_of(shape)} of {elements!r}: {size} bytes; want less than 2**63")
    return size


def refuse_objects(elements: np.dtype[Any], what: str) -> None:
    """Raises TypeError if elements are objects of Python, or have some."""
    if elements.hasobject:
        raise TypeError(f"{what}: elements of {elements!r} are Python objects, which mean nothing to other ranks")
