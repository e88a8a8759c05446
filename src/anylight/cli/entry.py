"""Entry point: Ctrl-C means the same while the program is still loading."""

import signal


def main() -> int:
    """Load and run the command line."""
    try:
        from .interrupt import end_cleanly  # noqa: PLC0415
        from .main import main as run  # noqa: PLC0415

        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, end_cleanly)
        return run()
    except KeyboardInterrupt:
        return 130
