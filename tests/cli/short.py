"""What the tests of the command line share: a short run, and what a refusal looks like."""

from anylight.cli.main import main

FAST = ["--preset", "paper", "--iterations", "4", "--first-order-iterations", "2"]


def fails(capsys, arguments, *words):
    capsys.readouterr()
    assert main(arguments) == 2
    *progress, message = capsys.readouterr().err.splitlines()
    assert message.startswith("anylight: ")
    assert all(line.endswith("done") or line.startswith("solving") for line in progress)
    for word in words:
        assert word in message, message
