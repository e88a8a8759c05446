"""Fuzzing guided by coverage: `python -m studies.trust.guided PARSER SECONDS SEED` (atheris)."""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["anylight.io", "anylight.intake"]):
    from studies.trust.parsers import PARSERS


def main() -> None:
    """Fuzz one parser; ends with an error at the first file that breaks the law."""
    parser, seconds, seed = PARSERS[sys.argv[1]], float(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "corpus").mkdir()
        (place / "corpus" / "good").write_bytes(parser.seed)

        def once(content: bytes) -> None:
            fault = parser.holds(content, place)
            if fault:
                raise AssertionError(fault)

        words = [sys.argv[0], f"-max_total_time={seconds:.0f}", f"-seed={seed + 1}",
                 "-rss_limit_mb=6000", "-timeout=60",
                 f"-artifact_prefix={tempfile.gettempdir()}/", str(place / "corpus")]  # fmt: skip
        atheris.Setup(words, once)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
