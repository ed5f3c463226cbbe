"""Runs the tools in a folder that goes away."""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile


class Failed(Exception):
    """Thrown when a program ends with another exit code than expected, or gives a wrong result."""


class Tools:
    """`mpirun` is the command that starts ranks as processes, without their number; empty where there is none."""

    def __init__(self, programs, mpirun=""):
        self.programs, self.mpirun = pathlib.Path(programs).resolve(), mpirun
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gnnplan-test-"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def __truediv__(self, name):
        return self.folder / name

    def run(self, program, arguments, code=0, launcher=""):
        """`arguments` as a shell takes them, in the folder. Returns what was printed; without a `code` to expect, the
        exit code and what was printed."""
        command = f"{launcher} {shlex.quote(str(self.programs / program))} {arguments}"
        done = subprocess.run(shlex.split(command), cwd=self.folder, capture_output=True, text=True, timeout=300,
                              check=False)
        if code is None:
            return done.returncode, done.stdout + done.stderr
        if done.returncode != code:
            raise Failed(f"{command}\nended with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def plan(self, arguments, code=0):
        return self.run("gnnplan", f"plan --machine cpu-node {arguments}", code)

    def train(self, arguments, ranks=1, processes=False, code=0):
        """Runs gnnrun with ranks that are threads or processes."""
        how = "" if processes else "--in-process "
        launcher = f"{self.mpirun} {ranks}" if processes else ""
        return self.run("gnnrun", f"{arguments} {how}--threads 1", code, launcher)

    def remove(self, name):
        path = self / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def report(self, name):
        return json.loads((self / name).read_text())


def run_test(description, test):
    """Runs test(tools), which returns or yields its failures in words, or throws Failed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", required=True, help="the folder of gnnplan and gnnrun")
    parser.add_argument("--mpirun", default="", help="what starts processes, to be followed by their number")
    asked = parser.parse_args()
    with Tools(asked.bin, asked.mpirun) as tools:
        failed = False
        for failure in test(tools):
            failed = True
            print(failure, file=sys.stderr, flush=True)
    sys.exit(1 if failed else 0)


def require(holds, message):
    if not holds:
        raise Failed(message)


def far(made, expected, relative):
    """Says where rows differ by more than `relative` of the largest magnitude that is expected; None if they do not."""
    if len(made) != len(expected) or any(len(a) != len(b) for a, b in zip(made, expected)):
        return "they have other shapes"
    largest = max((abs(x) for row in expected for x in row), default=0.0)
    for v, (row, wanted) in enumerate(zip(made, expected)):
        for a, b in zip(row, wanted):
            if not abs(a - b) <= relative * largest:
                return f"vertex {v} has {row}, and should have {wanted}"
    return None
