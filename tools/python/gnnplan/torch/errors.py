"""Errors that a user can act on. Their codes are the exit codes of gnnplan's tools."""

from .._errors import make

USAGE, DATA, MISSING, UNAVAILABLE, INTERNAL, MISMATCH = 64, 65, 66, 69, 70, 78


def refuse(what):
    """Refuses a plan for something that this module does not have."""
    raise make(UNAVAILABLE, f"{what} is not there in gnnplan.torch: train the plan with gnnrun, or on one "
               "device with the program that `gnnplan explain --pytorch` writes")
