"""The frameworks that epochs are compared with, each in a virtual environment of its own under a cache folder."""
import dataclasses, os, pathlib, subprocess, sys

DEBIAN_PYTHON = "/usr/bin/python3"  # has Debian's python3-torch and python3-numpy, where they are installed


@dataclasses.dataclass(frozen=True)
class Environment:
    """`packages` come from PyPI; without any, the environment sees the system's packages.

    `sources` have no wheels there: they are compiled against the packages, by the system's C++ compiler, which takes
    minutes.
    """

    name: str
    imports: tuple[str, ...]
    packages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


DEBIAN = Environment("debian", ("numpy", "torch"))
# PyPI's Linux wheel of torch brings CUDA's libraries along, without which it cannot be imported: 5 GB on disk.
PYPI = Environment("pypi", ("numpy", "torch", "torch_geometric"), ("numpy", "torch", "torch_geometric"))
# The last DGL on PyPI; its libraries exist for the PyTorch of its time only. It does not say that it needs the packages
# at the end.
DGL = Environment("dgl", ("numpy", "torch", "dgl"), ("dgl==2.1.0", "torch==2.2.1", "numpy<2", "torchdata==0.7.1", "pandas",
                                                     "pydantic", "pyyaml"))
# PyTorch Geometric's GraphSAINT draws with torch_sparse, which imports torch_scatter. PyTorch is the one that DGL has.
SAINT = Environment("saint", ("numpy", "torch", "torch_geometric", "torch_sparse"),
                    ("torch==2.2.1", "numpy<2", "torch_geometric", "wheel"),
                    ("torch_scatter==2.1.2", "torch_sparse==0.6.18"))


class NotAvailable(Exception):
    """Why a peer cannot run here, in one line."""


def exit_with(main):
    """Ends the program with what main() returns, or with 2 and a line where nothing can be compared here."""
    try:
        sys.exit(main())
    except NotAvailable as failure:
        print(f"{pathlib.Path(sys.argv[0]).stem}: {failure}", file=sys.stderr)
        sys.exit(2)


def last_line(text):
    """Returns the last line that a program said, but for pip's hints at what it said before."""
    lines = [line for line in text.strip().splitlines() if not line.startswith(("hint:", "note:"))]
    return lines[-1].strip()[:200] if lines else "failed without a word"


def call(command, seconds, **options):
    """The standard output of a command; NotAvailable with the last thing it said if it fails or takes longer."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"takes longer than {seconds} s") from None
    except OSError as failure:
        raise NotAvailable(str(failure)) from None
    if done.returncode != 0:
        raise NotAvailable(last_line(done.stderr or done.stdout))
    return done.stdout


def python_of(environment, cache):
    """The interpreter of an environment, which is made first if it is not there; NotAvailable if it cannot be."""
    folder = pathlib.Path(cache) / environment.name
    python = folder / "bin" / "python"
    made = folder / "complete"  # written last, so an interrupted installation is started again
    if not made.exists():
        system = [] if environment.packages else ["--system-site-packages"]
        call([DEBIAN_PYTHON, "-m", "venv", "--clear", *system, folder], 300)
        if environment.packages:
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            call([*install, *environment.packages], 3600)
            if environment.sources:
                call([*install, "--no-build-isolation", *environment.sources], 3600,
                     env={**os.environ, "FORCE_ONLY_CPU": "1"})  # not for CUDA, where there is a toolkit
        call([python, "-c", "import " + ", ".join(environment.imports)], 300)
        made.touch()
    return python
