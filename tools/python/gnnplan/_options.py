"""Keyword arguments as the options of the two programs: hidden=16 is --hidden 16, symmetrise=True is --symmetrise."""

import os


def words(**options):
    """None and False leave an option out; lists are joined by commas."""
    arguments = []
    for key, value in options.items():
        if value is None or value is False:
            continue
        option = "--" + key.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            arguments += [option, ",".join(str(part) for part in value)]
        elif isinstance(value, os.PathLike):
            arguments += [option, os.fspath(value)]
        else:
            arguments += [option, str(value)]
    return arguments
