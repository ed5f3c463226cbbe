"""Exceptions: one base with a code, and the kinds that Python has for some of the codes."""

import contextlib


class Error(Exception):
    """This says what went wrong. `code` is the exit code of the tools (64 usage, 65 data, 66 missing, ...)."""

    def __init__(self, code, message, where="", hint=""):
        super().__init__(message)
        self.code, self.where, self.hint = code, where, hint


class UsageError(Error, ValueError):
    """An option or argument that cannot be."""


class DataError(Error, ValueError):
    """Data, or a file, that is malformed."""


class MissingError(Error, FileNotFoundError):
    """Something to be read is not there."""

    def __str__(self):
        return Exception.__str__(self)


class DoesNotFit(Error, MemoryError):
    """No plan fits the memory of a rank: `needed` and `available` bytes, `smallest_ranks` that would do, or None."""

    needed = available = smallest_ranks = None
    largest = ()

    @classmethod
    def of(cls, document):
        made = cls(3, document["message"])
        made.needed, made.available = document["needed_bytes_per_rank"], document["available_bytes_per_rank"]
        made.smallest_ranks, made.largest = document["smallest_ranks"], document["largest_tensors"]
        return made


KINDS = {3: DoesNotFit, 64: UsageError, 65: DataError, 66: MissingError}


def make(code, message, where="", hint=""):
    return KINDS.get(code, Error)(code, message, where, hint)


def renamed(text, words):
    """`words` by the paths of temporary files that stand for a caller's things."""
    for path, word in words.items():
        text = text.replace(path, word)
    return text


@contextlib.contextmanager
def naming(words):
    """Errors from within name the caller's things, and not the files that stand for them."""
    try:
        yield
    except Error as error:
        error.args = tuple(renamed(part, words) if isinstance(part, str) else part for part in error.args)
        error.where, error.hint = renamed(error.where, words), renamed(error.hint, words)
        raise
