"""Progress for anything that takes longer than two seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rich.console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


def say(console: rich.console.Console, sentence: str, style: str = "") -> None:
    """Print one line as it is: paths are not markup."""
    console.print(sentence, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


@contextmanager
def shown_progress(console: rich.console.Console) -> Iterator[Callable[[str, float], None]]:
    """Give a function to report (task, finished share) to.

    On a terminal each task is a bar with the time left; elsewhere a line when it is finished.
    """
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (TextColumn("{task.description:>10}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(task: str, share: float) -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=1.0)
            bars.update(tasks[task], completed=share)

        yield report


def _lines(console: rich.console.Console) -> Callable[[str, float], None]:
    finished: set[str] = set()

    def report(task: str, share: float) -> None:
        if share >= 1.0 and task not in finished:
            finished.add(task)
            say(console, f"{task}: done")

    return report
