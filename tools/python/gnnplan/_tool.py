"""The program gnnplan that came with this package, for what it prints as JSON."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from ._errors import make, renamed


WORDS = {"plan.json": "the plan", "run.json": "the run"}  # of files that stand for a caller's things


def _program():
    beside = os.path.join(os.path.dirname(sys.executable), "gnnplan")
    found = beside if os.path.exists(beside) else shutil.which("gnnplan")
    if found is None:
        raise make(69, "the program gnnplan is not in PATH", "gnnplan", "install the package with its scripts")
    return found


def text(command, *arguments, plan=None, files=()):
    """Returns what `gnnplan COMMAND ...` prints. `plan` and then `files`, texts by name, are written to files, named first."""
    texts = dict({} if plan is None else {"plan.json": plan.json}, **dict(files))
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in texts]
        for name, content in zip(names, texts.values()):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([_program(), command, *names, *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    said = renamed(done.stderr, {path: WORDS.get(name, name) for name, path in zip(texts, names)})
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    raise make(done.returncode, lines[-1][len("error: "):] if lines else said.strip())


def document(command, *arguments, plan=None):
    return json.loads(text(command, *arguments, plan=plan))


def frame(rows):
    """A DataFrame where pandas is installed, else the rows themselves."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.json_normalize(rows)
