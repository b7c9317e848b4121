"""The shared library: where it is found, and its functions by ctypes.

Every call gives up the interpreter's lock while it runs."""

from __future__ import annotations

import ctypes
import operator
import os
import struct
import threading
from ctypes import POINTER, c_char_p, c_int, c_long, c_ubyte, c_uint, c_ulong, c_ushort, c_void_p
from pathlib import Path
from typing import Any, Callable

# Values of gaspi_return_t.
ERROR, SUCCESS, TIMEOUT = -1, 0, 1
ERR_NOINIT, QUEUE_FULL = 6, 23

NAME = "libgaspi.so"


class Config(ctypes.Structure):
    """gaspi_config_t."""

    _fields_ = [
        ("logger", c_uint),
        ("sn_port", c_uint),
        ("net_info", c_uint),
        ("user_net", c_uint),
        ("sn_persistent", c_int),
        ("sn_timeout", c_ulong),
        ("dev_config", c_uint * 8),
        ("network", c_uint),
        ("queue_size_max", c_uint),
        ("queue_num", c_uint),
        ("group_max", c_uint),
        ("segment_max", c_uint),
        ("transfer_size_max", c_ulong),
        ("notification_num", c_uint),
        ("passive_queue_size_max", c_uint),
        ("passive_transfer_size_max", c_uint),
        ("allreduce_buf_size", c_ulong),
        ("allreduce_elem_max", c_uint),
        ("rw_list_elem_max", c_uint),
        ("build_infrastructure", c_uint),
        ("user_defined", c_void_p),
    ]


class Task(ctypes.Structure):
    """gaspigo_task_t."""

    _fields_ = [
        ("call", c_int),
        ("type", c_int),
        ("op", c_int),
        ("root", c_int),
        ("dst", c_void_p),
        ("src", c_void_p),
        ("count", c_ulong),
        ("receives", POINTER(c_ulong)),
        ("sends", POINTER(c_ulong)),
        ("algorithm", c_char_p),
    ]

    def __init__(self, **fields: Any) -> None:
        root = fields.get("root", 0)
        if not -(2**31) <= operator.index(root) < 2**31:
            raise ValueError(f"root={root}: want the number of a member")
        super().__init__(**fields)


# The functions that are used: a letter for each argument, a pointer to what an upper-case one names.
_LETTERS = {
    "b": c_ubyte,
    "r": c_ushort,
    "i": c_int,
    "u": c_uint,
    "z": c_ulong,
    "p": c_void_p,
    "s": c_char_p,
    "B": POINTER(c_ubyte),
    "R": POINTER(c_ushort),
    "I": POINTER(c_int),
    "U": POINTER(c_uint),
    "L": POINTER(c_long),
    "Z": POINTER(c_ulong),
    "P": POINTER(c_void_p),
    "S": POINTER(c_char_p),
    "T": POINTER(Task),
    "C": POINTER(Config),
}

# Whole numbers by their letters: how struct packs them, and how errors call them. ctypes takes any whole number
# and passes on its lowest bits.
_NUMBERS = {
    "b": ("B", "a segment, queue or group"),
    "r": ("H", "a rank"),
    "i": ("i", "a number"),
    "u": ("I", "a notification, count or value"),
    "z": ("Q", "a size, offset or time"),
}

_FUNCTIONS = {
    "gaspi_config_get": "C",
    "gaspi_proc_init": "z",
    "gaspi_proc_term": "z",
    "gaspi_proc_rank": "R",
    "gaspi_proc_num": "R",
    "gaspi_proc_local_rank": "R",
    "gaspi_proc_local_num": "R",
    "gaspi_proc_kill": "rz",
    "gaspi_proc_ping": "rz",
    "gaspi_state_vec_get": "I",
    "gaspi_group_create": "B",
    "gaspi_group_add": "br",
    "gaspi_group_commit": "bz",
    "gaspi_group_delete": "b",
    "gaspi_segment_create": "bzbzi",
    "gaspi_segment_alloc": "bzi",
    "gaspi_segment_use": "bpzbzi",
    "gaspi_segment_bind": "bpzi",
    "gaspi_segment_register": "brz",
    "gaspi_segment_delete": "b",
    "gaspi_segment_ptr": "bP",
    "gaspi_segment_size": "brZ",
    "gaspi_segment_avail_local": "B",
    "gaspi_write": "bzrbzzbz",
    "gaspi_read": "bzrbzzbz",
    "gaspi_write_notify": "bzrbzzuubz",
    "gaspi_read_notify": "bzrbzzubz",
    "gaspi_notify": "bruubz",
    "gaspi_notify_waitsome": "buuUz",
    "gaspi_notify_reset": "buU",
    "gaspi_wait": "bz",
    "gaspi_queue_size": "bU",
    "gaspi_queue_num": "U",
    "gaspi_queue_create": "Bz",
    "gaspi_queue_delete": "b",
    "gaspi_queue_purge": "bz",
    "gaspi_passive_send": "bzrzz",
    "gaspi_passive_receive": "bzRzz",
    "gaspi_atomic_fetch_add": "bzrzZz",
    "gaspi_atomic_compare_swap": "bzrzzZz",
    "gaspi_barrier": "bz",
    "gaspigo_team_new": "buzZ",
    "gaspigo_team_split": "ziizZ",
    "gaspigo_team_close": "z",
    "gaspigo_team_rank": "zI",
    "gaspigo_team_size": "zI",
    "gaspigo_team_ranks": "zR",
    "gaspigo_team_revoke": "zs",
    "gaspigo_team_agree": "zuzU",
    "gaspigo_team_shrink": "zzZ",
    "gaspigo_alloc": "zzzP",
    "gaspigo_release": "zpz",
    "gaspigo_do": "zTz",
    "gaspigo_start": "zTzZ",
    "gaspigo_test": "zI",
    "gaspigo_wait": "zz",
    "gaspigo_join": "zz",
    "gaspigo_waited": "z",
    "gaspigo_request_free": "z",
    "gaspigo_plan_new": "zTzZ",
    "gaspigo_plan_run": "zz",
    "gaspigo_plan_start": "zZ",
    "gaspigo_plan_close": "z",
    "gaspigo_store_open": "bzuzZ",
    "gaspigo_store_close": "zz",
    "gaspigo_put": "zspzz",
    "gaspigo_view": "zszZPZ",
    "gaspigo_view_release": "z",
    "gaspigo_delete": "zsz",
    "gaspigo_store_reduce": "zsSzziizB",
    "gaspigo_store_wait": "zSzzZ",
    "gaspigo_reduction_new": "bziiiuzZ",
    "gaspigo_reduction_run": "zppzLL",
    "gaspigo_reduction_clock": "zL",
    "gaspigo_reduction_close": "zz",
}

_lock = threading.Lock()
_loaded: Any = None
_process = 0  # that loaded the library


def api() -> Any:
    """The library, which the first call loads. OSError says where it was looked for."""
    global _loaded, _process
    if _loaded is None:
        with _lock:
            if _loaded is None:
                loaded = _declare(_load())
                _process, _loaded = os.getpid(), loaded
    return _loaded


def refuse_fork() -> None:
    """Raises if this is a child by fork of a process that has loaded the library."""
    if _loaded is not None and os.getpid() != _process:
        raise RuntimeError(
            "gaspi cannot be used in a child by fork of a process that uses it: its threads are not there; "
            "start the child by 'spawn' or 'forkserver' (multiprocessing.get_context), or leave gaspi to the parent"
        )


def encoded(text: str, what: str) -> bytes:
    """A text as C has it, which ends at a zero byte. ValueError for one that has some."""
    if "\0" in text:
        raise ValueError(f"{what} {text!r}: want a text without a zero byte")
    return text.encode()


def _candidates() -> list[Path]:
    here = Path(__file__).resolve().parent
    return [here / NAME, here.parents[1] / "capi" / "build" / NAME]


def _load() -> ctypes.CDLL:
    named = os.environ.get("GASPI_LIBRARY", "")
    if named:
        try:
            return ctypes.CDLL(named)
        except OSError as why:
            raise OSError(f"GASPI_LIBRARY={named} cannot be loaded as the library of gaspi: {why}") from None
    for path in _candidates():
        if path.exists():
            return ctypes.CDLL(str(path))
    try:
        return ctypes.CDLL(NAME)
    except OSError:
        places = ", ".join(map(str, _candidates()))
        raise OSError(
            f"{NAME} was not found: GASPI_LIBRARY is not set, there is no {places}, and the loader's path has none; "
            "build it by 'make -C capi' in a checkout of gaspi-go, or set GASPI_LIBRARY to the file"
        ) from None


def _declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, letters in _FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise OSError(f"{loaded._name} has no function {name}: it is older than this package; build it anew") from None
        function.argtypes = [_LETTERS[letter] for letter in letters]
        function.restype = c_int
        if not set(letters).isdisjoint("briu"):  # else its numbers are handles, times, and sizes of arrays
            setattr(loaded, name, _ranged(name, function, letters))
    loaded.gaspi_config_set.argtypes = [Config]
    loaded.gaspi_config_set.restype = c_int
    loaded.gaspi_error_str.argtypes = [c_int]
    loaded.gaspi_error_str.restype = c_char_p
    loaded.gaspigo_error.argtypes = []
    loaded.gaspigo_error.restype = c_char_p
    return loaded


def _ranged(name: str, function: Any, letters: str) -> Callable[..., int]:
    """The function with a look at its numbers: ValueError or TypeError for one that it cannot be given."""
    places = [i for i, letter in enumerate(letters) if letter in _NUMBERS]
    pick: Callable[[Any], Any] = operator.itemgetter(*places)
    if len(places) == 1:
        pick = operator.itemgetter(slice(places[0], places[0] + 1))
    pack = struct.Struct("=" + "".join(_NUMBERS[letters[i]][0] for i in places)).pack

    def call(*args: Any) -> int:
        try:
            pack(*pick(args))
        except struct.error:
            for i in places:
                _check(name, letters[i], args[i])
            raise
        code: int = function(*args)
        return code

    return call


def _check(name: str, letter: str, value: Any) -> None:
    code, kind = _NUMBERS[letter]
    bits = 8 * struct.calcsize("=" + code)
    low, high = (0, 2**bits) if code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    want = f"{name}: {value!r} as {kind}: want a whole number from {low} to {high - 1}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(want) from None
    if not low <= number < high:
        raise ValueError(want)
