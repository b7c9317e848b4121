"""What needs no job: how the library and gaspi-run are found, and refusals. One process, started as no rank."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import gaspi
from gaspi import _blocking, _proc, run
from ranks import main, refused

BAD = {"GASPI_LIBRARY": "/nowhere/libgaspi.so"}


def fails(code, environment, *words):
    """Checks that Python code ends with one line on standard error that has some words."""
    ended = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, cwd="/"
    )
    last = ended.stderr.strip().splitlines()[-1]
    assert ended.returncode and all(word in last for word in words), ended.stderr


def finding():
    fails("import gaspi; gaspi.init()", BAD, "GASPI_LIBRARY=/nowhere/libgaspi.so", "cannot be loaded")
    code = "import gaspi._library as l; l._candidates = lambda: []; l.api()"
    fails(code, {"GASPI_LIBRARY": ""}, "libgaspi.so was not found", "make -C capi", "GASPI_LIBRARY")
    fails("import gaspi.run, sys; sys.argv[1:] = ['-n', '2']; gaspi.run.main()", {}, "no script was given")
    fails("import gaspi.run, sys; sys.argv[1:] = ['x.py']; gaspi.run.main()", {"GASPI_RUN": "/nowhere"}, "GASPI_RUN=/nowhere")
    line = run.command(["-n", "3", "--transport", "tcp", "a.py", "--n", "b.py"])
    assert line[1:] == ["-n", "3", "--transport", "tcp", sys.executable, "a.py", "--n", "b.py"]
    assert run.command(["-m", "x"])[1:] == [sys.executable, "-m", "x"]


def timeouts():
    assert _blocking.milliseconds(None) == 2**64 - 1 == _blocking.milliseconds(float("inf"))
    assert _blocking.milliseconds(0) == 0 and _blocking.milliseconds(0.0001) == 1 and _blocking.milliseconds(1.5) == 1500
    refused(ValueError, lambda: _blocking.milliseconds(float("nan")), "nan")


def refusals():
    refused(gaspi.Error, gaspi.current, "gaspi.init()")
    refused(gaspi.Error, lambda: gaspi.init(queues=17), "17 queues")
    for name in ("queues", "queue_depth", "notifications", "groups", "segments"):
        refused(ValueError, lambda name=name: gaspi.init(**{name: 2**32 + 8}), f"{name}={2**32 + 8}")
    assert not gaspi.initialized()


def helpers():
    """Goal: threads that make calls for the main thread are used again after an interrupt. Method: calls that are
    interrupted, and go on until they are let go."""

    def busy():
        there = [each for each in threading.enumerate() if each.name == "gaspi-call"]
        return len(there) - len(_blocking._idle)

    for _ in range(5):
        go = threading.Event()

        def call(_, go=go):
            os.kill(os.getpid(), signal.SIGINT)
            go.wait()

        refused(KeyboardInterrupt, lambda: _blocking.once(call, None))
        go.set()
        until = time.monotonic() + 60
        while busy():
            assert time.monotonic() < until, f"{busy()} threads have ended their calls, and are not used again"
            time.sleep(0.001)
        made = []
        _blocking.once(lambda ms: made.append(ms), 1)
        assert made == [1000] and len(_blocking._idle) == 1


LEAVING = """
import atexit, threading
def calls(call):
    ready.release()
    call()
def fails():
    ready.release()
    try:
        seg.wait_some(4)
    finally:
        raise KeyError("mine")
ready = threading.Semaphore(0)
atexit.register(lambda: [each.join() for each in threads])  # after that of gaspi
import gaspi
proc = gaspi.init()
seg, store = proc.segment(0, 8), proc.store(1 << 16)
threads = [threading.Thread(target=calls, args=(call,), daemon=True) for call in (lambda: seg.wait_some(3), lambda: store.get("never"))]
threads.append(threading.Thread(target=fails, daemon=True))
for each in threads:
    each.start()
    ready.acquire()
"""


def leaving():
    """Goal: a program ends quietly while daemon threads wait, but for errors of its own. Method: threads that are
    joined after the end of the rank."""
    ended = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, timeout=100)
    said = [line for line in ended.stderr.splitlines() if line.startswith("Exception in thread")]
    assert ended.returncode == 0 and len(said) == 1 and "KeyError: 'mine'" in ended.stderr, ended.stderr


def ways(proc, group):
    """What a rank that has ended may be asked to do, with a group of a later one."""
    array = np.zeros(8)
    return (
        proc.barrier, lambda: proc.ping(0), lambda: proc.kill(0), lambda: proc.segment(1, 8), lambda: proc.segment(1, 8, group=group),
        lambda: proc.alloc(1, 8), lambda: proc.alloc(None, 8), lambda: proc.use(1, array, group=group), lambda: proc.bind(1, array),
        proc.wait, lambda: proc.wait(1), proc.queue, lambda: proc.group([0]), lambda: proc.team(group), proc.team,
        lambda: proc.store(8, group), lambda: proc.stale_reduction(3, slack=1, group=group),
    )


def later():
    """Objects of a rank that has ended are not those of a later one of this process, which has their numbers again."""
    with gaspi.init() as before:
        proc = before
        old, queue, group, world = proc.segment(0, 8), proc.queue(), proc.group([0]), proc.world
    with gaspi.init() as proc:
        new, others, members = proc.segment(0, 16), proc.queue(), proc.group([0])
        assert (new.id, others.number, members.id) == (old.id, queue.number, group.id)
        a = old.array
        for call in (
            old.delete, lambda: old.register(0), lambda: old.write(a[:1], 0, 64), lambda: old.write_notify(a[:1], 0, 64, 3),
            lambda: old.read(a[:1], 0, 64), lambda: old.read_notify(a[:1], 0, 64, 3), lambda: old.notify(0, 3),
            lambda: old.wait_some(3, timeout=0), lambda: old.reset(3), lambda: old.size_at(0), lambda: old.fetch_add(0, 64, 1),
            lambda: old.compare_swap(0, 64, 0, 1), lambda: old.passive_send(a[:1], 0, 0), lambda: old.passive_receive(a[:1], 0),
            queue.wait, queue.purge, queue.delete, lambda: queue.used, lambda: new.notify(0, 3, queue=queue),
            group.barrier, group.delete, world.barrier, lambda: proc.team(group), lambda: proc.segment(1, 8, group=group),
            *ways(before, members),
        ):
            refused(gaspi.Error, call, "no rank (any more)")
        assert new.size_at(0) == 128 and not new.array.any() and others.used == 0
        members.barrier()
        looks, _proc.lost_ranks = _proc.lost_ranks, lambda: (7,)
        assert (before.lost(), proc.lost()) == ((), (7,))
        _proc.lost_ranks = looks


finding()
timeouts()
refusals()
helpers()
leaving()
main([])
main(["segments"])  # a process that nobody has started as a rank may begin again
later()
