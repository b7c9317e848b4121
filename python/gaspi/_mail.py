"""Messages between two members of a group, by rank and tag, of bytes of any number.

A message goes in pieces through two slots that the receiver has for each sender, in its segment. The sender writes a
piece with a notification, and the receiver gives the slot back by one when it has taken the piece out. A thread for each
receiver sends; one thread takes out what comes, as it comes: a message that nobody has asked for is kept."""

from __future__ import annotations

import ctypes
import queue
import threading
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _library as lib
from ._arrays import address
from ._errors import Error, RankLost, Timeout, lost_ranks, names
from ._proc import Group, Proc
from ._team import Team

_SLOTS = 2  # pieces on the way from one rank to another
_HEAD = 16  # bytes: tag and length, before the first piece of a message
_LARGEST = 1 << 18  # bytes of a slot
_TOGETHER = 1 << 26  # bytes of all slots of a rank
_LOOK = 0.1  # seconds of a wait between two looks for ranks that are gone


class Parcel:
    """A message on its way. ``done`` is called when it has ended, with its error or None."""

    def __init__(self, where: int, nbytes: int, alive: Any, done: Callable[[Parcel, Optional[BaseException]], None]) -> None:
        self.where, self.nbytes, self.alive = where, nbytes, alive
        self.source = -1
        self._done = done

    def end(self, error: Optional[BaseException]) -> None:
        self.alive = None
        self._done(self, error)


class _Incoming:
    """A message that has begun to come."""

    def __init__(self, source: int, tag: int, nbytes: int) -> None:
        self.source, self.tag, self.nbytes = source, tag, nbytes
        self.got = 0
        self.parcel: Optional[Parcel] = None  # who has asked for it
        self.kept: Optional[Any] = None  # its bytes, if nobody had when it came

    @property
    def target(self) -> int:
        if self.kept is not None:
            return ctypes.addressof(self.kept)
        return self.parcel.where if self.parcel else 0


def _free_everywhere(team: Team) -> int:
    """The highest number of a segment that all members of a team have free."""
    free = np.zeros(255, np.uint8)
    cell = ctypes.c_void_p()
    for number in range(255):
        free[number] = lib.api().gaspi_segment_ptr(number, cell) != 0
    team.allreduce(free, "min")
    if not free.any():
        raise Error("messages between members: no segment number is free at all of them")
    return int(np.flatnonzero(free)[-1])


class Mail:
    """Messages of the members of a group, which all of them make. Any thread may call."""

    def __init__(self, proc: Proc, group: Group, team: Team) -> None:
        n = team.size
        self._proc, self._team = proc, team
        self._slot = max(4096, min(_LARGEST, _TOGETHER // (2 * _SLOTS * n)))
        self._segment = proc.segment(_free_everywhere(team), 2 * n * _SLOTS * self._slot, np.uint8, group=group)
        self._bytes = self._segment.array
        self._base = address(self._bytes)
        self._lock = threading.Lock()
        self._posting = threading.Lock()  # held until the queue was waited for, so that its error is the poster's
        self._outboxes: dict[int, queue.SimpleQueue[tuple[int, Parcel]]] = {}
        self._taker: Optional[threading.Thread] = None
        self._asked: list[tuple[Optional[int], int, Parcel]] = []
        self._arrived: list[_Incoming] = []  # that nobody has asked for, in their order
        self._coming: dict[int, _Incoming] = {}
        self._pieces = [0] * n  # that have come, by member
        self._broken: Optional[BaseException] = None

    def send(self, to: int, tag: int, parcel: Parcel) -> None:
        """Sends a message to a member, after those before it."""
        with self._lock:
            outbox = self._outboxes.get(to)
            if outbox is None:
                outbox = self._outboxes[to] = queue.SimpleQueue()
                self._thread(lambda: self._send_loop(to, outbox))
        outbox.put((tag, parcel))

    def receive(self, source: Optional[int], tag: int, parcel: Parcel) -> None:
        """Receives the next message with a tag of a member, or of any if source is None."""
        with self._lock:
            error = self._broken
            if error is None:
                if self._taker is None:
                    self._taker = self._thread(self._take_loop)
                for message in self._arrived:
                    if source in (None, message.source) and message.tag == tag:
                        self._arrived.remove(message)
                        message.parcel = parcel
                        break
                else:
                    self._asked.append((source, tag, parcel))
                    return
                if message.got < message.nbytes:
                    return  # the rest comes
        if error is not None:
            parcel.end(error)
        else:
            self._deliver(message)

    def _thread(self, loop: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=loop, name="gaspi-mail", daemon=True)
        thread.start()
        return thread

    def _look(self, first: int, count: int = 1) -> Optional[int]:
        """Waits a moment for a notification. None if there is none, or a rank was lost, which the caller asks about."""
        try:
            return self._segment.wait_some(first, count, _LOOK)
        except (Timeout, RankLost):
            return None

    def _refuse(self, members: Sequence[int]) -> None:
        """Raises if one of some members is gone."""
        ranks = {self._team.ranks[member] for member in members}
        gone = tuple(rank for rank in lost_ranks() if rank in ranks)
        if gone:
            raise RankLost(f"a message: {names(gone)} gone", gone)

    # Sending.

    def _send_loop(self, to: int, outbox: queue.SimpleQueue[tuple[int, Parcel]]) -> None:
        piece = 0
        error: Optional[BaseException] = None
        while True:
            tag, parcel = outbox.get()
            try:
                if error is None:
                    piece = self._send(to, tag, parcel, piece)
            except BaseException as why:  # it is the sender's, who waits for the parcel
                error = why
            parcel.end(error)

    def _send(self, to: int, tag: int, parcel: Parcel, piece: int) -> int:
        sent, n, me = 0, self._team.size, self._team.rank
        head = np.array([tag, parcel.nbytes], np.int64).tobytes()
        while True:
            slot = piece % _SLOTS
            if piece >= _SLOTS:
                given_back = _SLOTS * (n + to) + slot
                while self._look(given_back) is None:
                    self._refuse([to])
                self._segment.reset(given_back)
            stage = (_SLOTS * (n + to) + slot) * self._slot
            length = min(parcel.nbytes - sent, self._slot - len(head))
            ctypes.memmove(self._base + stage, head, len(head))
            ctypes.memmove(self._base + stage + len(head), parcel.where + sent, length)
            place = _SLOTS * me + slot
            src = self._bytes[stage : stage + len(head) + length]
            with self._posting:
                self._segment.write_notify(src, self._team.ranks[to], place * self._slot, place)
                self._proc.wait()
            piece, sent, head = piece + 1, sent + length, b""
            if sent == parcel.nbytes:
                return piece

    # Receiving.

    def _take_loop(self) -> None:
        try:
            while True:
                self._take()
        except BaseException as why:  # it is the receivers', who wait for their parcels
            with self._lock:
                self._broken = why
                waiting = [parcel for _, _, parcel in self._asked]
                waiting += [m.parcel for m in self._coming.values() if m.parcel is not None]
            for parcel in waiting:
                parcel.end(why)

    def _take(self) -> None:
        got = self._look(0, _SLOTS * self._team.size)
        if got is None:
            self._end_lost()
            return
        source = got // _SLOTS
        place = _SLOTS * source + self._pieces[source] % _SLOTS
        while self._look(place) is None:
            if self._error_of([source]) is not None:  # the piece before what has come does not come any more
                self._segment.reset(got)
                self._end_lost()
                return
        self._segment.reset(place)
        done = self._take_piece(source, place * self._slot)
        self._pieces[source] += 1
        given_back = _SLOTS * (self._team.size + self._team.rank) + place % _SLOTS
        try:
            with self._posting:
                self._segment.notify(self._team.ranks[source], given_back)
                self._proc.wait()
        except RankLost:
            pass  # who is gone needs no slot
        if done is not None:
            self._deliver(done)

    def _end_lost(self) -> None:
        """Ends the messages that were to come from members that are gone. All of them may be the sender of one that any
        member may send."""
        if not lost_ranks():
            return
        ended = []
        with self._lock:
            for asked in list(self._asked):
                source, _, parcel = asked
                error = self._error_of(range(self._team.size) if source is None else [source])
                if error is not None:
                    self._asked.remove(asked)
                    ended.append((parcel, error))
            for source, message in list(self._coming.items()):
                error = self._error_of([source])
                if error is not None:
                    del self._coming[source]
                    if message.parcel is not None:
                        ended.append((message.parcel, error))
                    else:
                        self._arrived.remove(message)
        for parcel, error in ended:
            parcel.end(error)

    def _error_of(self, members: Sequence[int]) -> Optional[Error]:
        try:
            self._refuse(members)
        except RankLost as error:
            return error
        return None

    def _take_piece(self, source: int, at: int) -> Optional[_Incoming]:
        """Copies a piece of a message. Returns the message if it is complete, and somebody has asked for it."""
        start, message = 0, self._coming.get(source)
        if message is None:
            tag, nbytes = (int(v) for v in self._bytes[at : at + _HEAD].view(np.int64))
            message, start = _Incoming(source, tag, nbytes), _HEAD
            self._coming[source] = message
            with self._lock:
                self._match(message)
        length = min(message.nbytes - message.got, self._slot - start)
        ctypes.memmove(message.target + message.got, self._base + at + start, length)
        with self._lock:
            message.got += length
            if message.got < message.nbytes:
                return None
            del self._coming[source]
            return message if message.parcel is not None else None

    def _match(self, message: _Incoming) -> None:
        """Finds who has asked for a message that begins. It is kept where it does not fit, too."""
        for at, (source, tag, parcel) in enumerate(self._asked):
            if source in (None, message.source) and tag == message.tag:
                del self._asked[at]
                message.parcel = parcel
                break
        else:
            self._arrived.append(message)
        if message.parcel is None or message.parcel.nbytes != message.nbytes:
            message.kept = (ctypes.c_ubyte * message.nbytes)()

    def _deliver(self, message: _Incoming) -> None:
        parcel = message.parcel
        assert parcel is not None
        parcel.source = message.source
        if parcel.nbytes != message.nbytes:
            parcel.end(Error(f"a message of {message.nbytes} bytes of member {message.source}, tag {message.tag}: "
                             f"{parcel.nbytes} bytes are waited for"))
            return
        if message.kept is not None:
            ctypes.memmove(parcel.where, message.kept, message.nbytes)
        parcel.end(None)
