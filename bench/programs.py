"""Programs that measurements call and files that they read. What fails is said in one line on standard error; exit status 2."""
import json, pathlib, shlex, subprocess, sys


def fail(what):
    print(f"{pathlib.Path(sys.argv[0]).name}: {what}", file=sys.stderr)
    sys.exit(2)


def built(build, *names):
    """Paths of programs of a build."""
    paths = [pathlib.Path(build).resolve() / "bin" / name for name in names]
    for path in paths:
        if not path.is_file():
            fail(f"{path} is not there: build gnnplan, or name the folder of the build with --build")
    return paths


def call(*command, allowed=(0,)):
    """The finished program with its output as text."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        fail(f"{words[0]}: {error.strerror}")
    if done.returncode not in allowed:
        said = (done.stderr.strip() or done.stdout.strip() or "without a word").splitlines()[-1]
        fail(f"exit status {done.returncode} of {shlex.join(words)}: {said}")
    return done


def read_json(path, hint):
    """The document in a JSON file; `hint` says what to do if it cannot be read."""
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        fail(f"{path}: {error.strerror}; {hint}")
    except ValueError:
        fail(f"{path} is not JSON; {hint}")
