"""Starts a script as a job: ``python -m gaspi.run [flags of gaspi-run] script.py [arguments]``, or ``-m module``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Sequence

_CHECKOUT = Path(__file__).resolve().parents[2]


def launcher() -> str:
    """The path of gaspi-run: GASPI_RUN, or in PATH, or built in the checkout. FileNotFoundError says how to get it."""
    named = os.environ.get("GASPI_RUN", "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"GASPI_RUN={named} is no program that can be executed")
        return found
    built = [_CHECKOUT / "bin" / "gaspi-run", Path(__file__).resolve().parent / "gaspi-run"]
    found = shutil.which("gaspi-run") or next((str(path) for path in built if os.access(path, os.X_OK)), None)
    if found is None:
        raise FileNotFoundError(
            "gaspi-run was not found: GASPI_RUN is not set, PATH has none, and there is no "
            f"{built[0]}; 'go build -o bin/ ./cmd/gaspi-run' in a checkout of gaspi-go makes it"
        )
    return found


def command(arguments: Sequence[str]) -> list[str]:
    """The command line of gaspi-run for arguments of this module: this interpreter runs what begins at the script,
    or at -m or -c. ValueError if there is none."""
    for at, argument in enumerate(arguments):
        if argument.endswith(".py") or argument in ("-m", "-c"):
            return [launcher(), *arguments[:at], sys.executable, *arguments[at:]]
    raise ValueError("no script was given: python -m gaspi.run [flags of gaspi-run] script.py [arguments], or -m module")


def environment() -> dict[str, str]:
    """The environment of the job: ranks find this package, and what they print appears at once."""
    env = dict(os.environ)
    here = str(Path(__file__).resolve().parents[1])
    env["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [env.get("PYTHONPATH")])])
    env.setdefault("PYTHONUNBUFFERED", "1")
    return env


def main() -> None:
    """Becomes gaspi-run."""
    try:
        line = command(sys.argv[1:])
    except (OSError, ValueError) as why:
        sys.exit(f"gaspi.run: {why}")
    os.execve(line[0], line, environment())


if __name__ == "__main__":
    main()
