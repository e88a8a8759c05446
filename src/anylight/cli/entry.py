"""Entry point: Ctrl-C means the same while the program is still loading."""


def main() -> int:
    """Load and run the command line."""
    try:
        from .main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return 130
