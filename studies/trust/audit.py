"""Ask the public list of vulnerabilities about everything in the lock: `make audit`.

A finding is a failure. No answer is none: without a network nothing is known, and that is said.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "dev.lock"
_PATIENCE = 300.0
_UNREACHABLE = re.compile(
    r"ConnectionError|ConnectTimeout|ReadTimeout|Max retries|NameResolution|ProxyError|SSLError|"
    r"ServiceError|ServiceUnavailable|Temporary failure|Network is unreachable|HTTPError|"
    r"Connection(Refused|Reset)|not connect"
)
"""What the auditor says where the list cannot be reached."""


def findings(report: dict[str, Any]) -> list[str]:
    """Known vulnerabilities of an auditor's report, one line each."""
    return [
        f"{package['name']} {package['version']}: {known['id']}"
        + (f", mended in {', '.join(known['fix_versions'])}" if known.get("fix_versions") else "")
        for package in report["dependencies"]
        for known in package.get("vulns", ())
    ]


def verdict(report: str | None, said: str) -> tuple[int, str]:
    """Exit code and words for what the auditor left.

    Args:
        report: as JSON; None if there is none.
        said: what it said on the way.
    """
    if report is not None:
        parsed = json.loads(report)
        found = findings(parsed)
        skipped = [p["name"] for p in parsed["dependencies"] if "skip_reason" in p]
        asked = len(parsed["dependencies"]) - len(skipped)
        if found:
            return 1, "\n".join([f"{len(found)} known vulnerabilities:", *found])
        if not asked:
            return 0, "NOT AUDITED: the list of vulnerabilities answers for none of the packages"
        left = f"; not asked about: {', '.join(skipped)}" if skipped else ""
        return 0, f"no known vulnerability in {asked} packages of the lock{left}"
    if _UNREACHABLE.search(said):
        return 0, "NOT AUDITED: the list of vulnerabilities cannot be reached from here"
    return 1, f"the audit failed: {said[-500:]}"


def main() -> None:
    """Audit the lock."""
    if importlib.util.find_spec("pip_audit") is None:
        sys.stdout.write("NOT AUDITED: pip-audit is not installed and cannot be had from here\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        words = ["--disable-pip", "--no-deps", "--require-hashes", "--progress-spinner", "off"]
        try:
            run = subprocess.run(
                [sys.executable, "-m", "pip_audit", *words, "--requirement", str(LOCK),
                 "--format", "json", "--output", str(out)],
                capture_output=True, text=True, check=False, timeout=_PATIENCE,
            )  # fmt: skip
            said = run.stderr
        except subprocess.TimeoutExpired:
            said = "ReadTimeout"
        code, told = verdict(out.read_text() if out.exists() else None, said)
    sys.stdout.write(told + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
