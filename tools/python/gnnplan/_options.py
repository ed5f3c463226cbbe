"""Keyword arguments as the options of the two programs: hidden=16 is --hidden=16, symmetrise=True is --symmetrise."""

import os

import numpy


def text_of(value):
    """A value as the programs read it; lists and arrays are joined by commas."""
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return ",".join(text_of(part) for part in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def option_of(key):
    return "--" + key.replace("_", "-")


def words(**options):
    """None leaves an option out. False says so, so that it is refused where an option is no flag or is misspelt."""
    arguments = []
    for key, value in options.items():
        if isinstance(value, numpy.bool_):
            value = bool(value)
        if value is None:
            continue
        text = "false" if value is False else text_of(value)
        arguments.append(option_of(key) if value is True else f"{option_of(key)}={text}")
    return arguments
