"""What can be wrong with what the user gave us."""


class InvalidInputError(Exception):
    """One sentence that names the file or option and says what to do about it."""


class MissingExtraError(InvalidInputError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, task: str, extra: str) -> None:
        super().__init__(
            f"{task} needs an optional package: pip install 'anylight[{extra}]' "
            f"(in a clone: '.[{extra}]')."
        )
