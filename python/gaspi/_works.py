"""Works of torch.distributed: what its calls return, and what ends them."""

from __future__ import annotations

import queue
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Callable, Optional

import torch.distributed as dist
from torch.futures import Future

from . import _library as lib
from . import _team
from ._blocking import _SLICE, BLOCK, again
from ._errors import Timeout
from ._mail import Parcel

if TYPE_CHECKING:
    from .torch import Group

_Work: Any = getattr(dist, "_Work", None) or getattr(dist, "Work")


class Ending(_Work):  # type: ignore[misc]
    """An operation that ends once. One that is made with over has ended."""

    _error: Optional[BaseException] = None
    _future: Optional[Future[Any]] = None

    def __init__(self, group: Group, result: Any, what: str, over: bool = False) -> None:
        super().__init__()
        self._group, self._result, self._what, self._over = group, result, what, over
        self._lock = threading.Lock()
        if not over:
            group._keep(self)

    def _end(self, error: Optional[BaseException], finish: Optional[Callable[[], None]] = None) -> None:
        with self._lock:
            if self._over:
                return
            if error is None and finish is not None:
                try:
                    finish()
                except BaseException as why:  # it is the waiter's
                    error = why
            self._error, self._over = error, True
            told = self._future is not None
        if told:
            self._tell()

    def _tell(self) -> None:
        self._ending.set_result(None)
        self._group._forget(self)

    def _outcome(self, _: Any) -> Any:
        if self._error is not None:
            raise self._error
        return self._result

    def _await(self, seconds: float) -> None:
        raise NotImplementedError

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Blocks until the operation has ended, and raises its error."""
        if not self._over:
            self._await(timeout.total_seconds() if timeout > timedelta(0) else self._group._timeout)
        self._group._forget(self)
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether the operation has ended."""
        return self._over

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self._over and self._error is None

    def exception(self) -> Optional[BaseException]:
        """Its error, or None."""
        return self._error

    def result(self) -> Any:
        """The tensors with its result, when it has ended."""
        self.wait()
        return self._result

    def get_future(self) -> Future[Any]:
        """A future that ends with the operation, and has its tensors or its error. The error is that of a callback:
        one of set_exception is raised in Python alone, and to C++ looks like a result."""
        with self._lock:
            if self._future is not None:
                return self._future
            self._ending: Future[None] = Future()
            self._future = self._ending.then(self._outcome)
            over = self._over
        if over:
            self._tell()
        else:
            self._watch()
        return self._future

    def _watch(self) -> None:
        """Sees to it that the operation ends although nobody waits."""


class CollectiveWork(Ending):
    """A collective operation of a team, which was started."""

    def __init__(
        self, group: Group, handle: int, alive: Any, finish: Optional[Callable[[], None]], result: Any, what: str
    ) -> None:
        super().__init__(group, result, what)
        self._handle, self._alive, self._finish = handle, alive, finish

    def _settle(self, code: int) -> None:
        """Ends the operation. The first thread that knows the code does so."""
        self._end(_team.error_of(code, f"gaspi: {self._what}"), self._finish)
        lib.api().gaspigo_request_free(self._handle)
        self._alive = None

    def _await(self, seconds: float) -> None:
        api = lib.api()
        if self._group._calls.acquire(blocking=False):
            try:
                code = again(lambda ms: api.gaspigo_wait(self._handle, ms), seconds)
            finally:
                self._group._calls.release()
        else:
            code = again(lambda ms: api.gaspigo_join(self._handle, ms), seconds)
        if self._over:
            return
        if code == lib.TIMEOUT:
            raise late(self._what, seconds)
        self._settle(code)

    def is_completed(self) -> bool:
        """Whether the operation has ended."""
        if not self._over:
            code = lib.api().gaspigo_join(self._handle, 0)
            if code != lib.TIMEOUT:
                self._settle(code)
        return self._over

    def _watch(self) -> None:
        self._group._watcher.put(self)


class MessageWork(Ending):
    """A message to or from another rank."""

    def __init__(self, group: Group, finish: Optional[Callable[[], None]], result: Any, what: str) -> None:
        super().__init__(group, result, what)
        self._source, self._finish, self._ended = -1, finish, threading.Event()

    def _done(self, parcel: Parcel, error: Optional[BaseException]) -> None:
        self._source = parcel.source
        self._end(error, self._finish)
        self._ended.set()

    def _await(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._ended.wait(min(_SLICE, max(0.0, end - time.monotonic()))):  # see _Helper.run
            if time.monotonic() >= end:
                raise late(self._what, seconds)

    def source_rank(self) -> int:
        """The member that sent the message."""
        return self._source

    _source_rank = source_rank


def late(what: str, seconds: float) -> Timeout:
    """The error of a wait that was over too soon."""
    return Timeout(f"gaspi: {what}: it has not ended after {seconds:g} s", lib.TIMEOUT)


class Watcher:
    """A thread that ends futures of operations, in the order in which they were started."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[CollectiveWork] = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def put(self, work: CollectiveWork) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="gaspi-watcher", daemon=True)
            self._thread.start()
        self._work.put(work)

    def _loop(self) -> None:
        while True:
            work = self._work.get()
            if not work._over:
                work._settle(lib.api().gaspigo_join(work._handle, BLOCK))
