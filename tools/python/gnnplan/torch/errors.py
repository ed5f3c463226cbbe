"""Errors that a user can act on. Their codes are the exit codes of gnnplan's tools."""

USAGE, DATA, MISSING, UNAVAILABLE, INTERNAL, MISMATCH = 64, 65, 66, 69, 70, 78


class PlanError(Exception):
    """One sentence that says what is wrong and what to do, and the exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def refuse(what):
    """Refuses a plan for something that this module does not have."""
    raise PlanError(
        UNAVAILABLE, f"{what} is not there in gnnplan.torch: train the plan with gnnrun, or on one "
        "device with the program that `gnnplan explain --pytorch` writes")
