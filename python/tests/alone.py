"""What needs no job: how the library and gaspi-run are found, and refusals. One process, started as no rank."""

from __future__ import annotations

import os
import subprocess
import sys

import gaspi
from gaspi import _blocking, run
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


finding()
timeouts()
refusals()
main([])
main(["segments"])  # a process that nobody has started as a rank may begin again
