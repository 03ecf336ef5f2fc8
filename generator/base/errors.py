# SPDX-License-Identifier: BSD-2-Clause
"""Errors that a user can mend, and the exit codes of the command line."""

import sys

EXIT_FAILED = 1  # something that was checked is wrong
EXIT_USAGE = 2  # bad arguments or input
EXIT_MISSING = 3  # a needed tool or package is missing
EXIT_INTERRUPTED = 130


class UserError(Exception):
    """A failure that the user can understand and mend: what, and what to do."""

    def __init__(self, message: str, hint: str = "", exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class WrongOutput(UserError):
    """Code that was compared leaves something other than the reference does."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, EXIT_FAILED)


def report_error(error: UserError) -> None:
    """Prints an error the one way it is printed everywhere."""
    print(f"daedalus: error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)
