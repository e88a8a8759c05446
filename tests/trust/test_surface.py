"""What the program touches: no pickles, no writes outside the output and the caches."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from studies.trust.audit import verdict
from studies.trust.wheel import built, wrong_with

from anylight.cli.main import main

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "dev.lock"
PROGRAM = """
import json, os, sys
touched = set()
def heard(event, arguments):
    if event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.add(os.path.abspath(str(arguments[0])))
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.truncate"):
        if os.path.isabs(arguments[0]):  # else below a folder that was opened before
            touched.add(os.fsdecode(arguments[0]))
sys.addaudithook(heard)
from anylight.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(touched)]))
"""


def test_nothing_is_written_outside_the_output_and_the_caches(tmp_path):
    capture, out = tmp_path / "in" / "vase", tmp_path / "made" / "out"
    assert main(["synth", "--images", "4", "--height", "32", "--out", str(capture)]) == 0
    quick = ["--preset", "paper", "--iterations", "2", "--first-order-iterations", "1"]
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, "run", str(capture), "--out", str(out), *quick],
        check=True, capture_output=True, text=True, cwd=tmp_path,
    ).stdout  # fmt: skip
    code, touched = json.loads(said.splitlines()[-1])
    assert code == 0
    allowed = (str(out.parent), "/proc/self/fd", "/dev/null")
    ours = re.compile(r"__pycache__|/\.out\.anylight-\w+(/|$)")
    assert [p for p in touched if not p.startswith(allowed) and not ours.search(p)] == []


def test_pickles_are_nowhere_in_the_source():
    unsafe = re.compile(
        r"allow_pickle=True|import (c?[Pp]ickle|dill|shelve|marshal|joblib)\b|eval\("
    )
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if unsafe.search(line)
    ]
    assert found == []


def locked():
    """Versions and number of hashes of every package in the lock, by name."""
    text = LOCK.read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\w)", text)
    found = {}
    for block in blocks:
        name, version = re.match(r"([\w.-]+)==([\w.]+)", block).groups()
        found.setdefault(name.lower(), []).append((version, block.count("--hash=sha256:")))
    return found


def test_the_lock_holds_hashes_of_everything_and_no_hosts():
    assert all(hashes for entries in locked().values() for _, hashes in entries)
    assert not re.search(r"https?:|index-url|find-links|/opt", LOCK.read_text(encoding="utf-8"))


def test_the_lock_is_of_what_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    packages = locked()
    for asked in map(Requirement, [*project["dependencies"], *extras]):
        if asked.name == "anylight":
            continue
        name = asked.name.lower().replace("_", "-")
        assert any(version in asked.specifier for version, _ in packages[name]), asked


def test_a_finding_fails_the_audit_and_no_network_does_not():
    known = {"id": "CVE-1", "fix_versions": ["2"]}
    clean = {"name": "a", "version": "1", "vulns": []}
    bad = {"name": "b", "version": "1", "vulns": [known]}
    code, told = verdict(json.dumps({"dependencies": [clean, bad]}), "")
    assert (code, told.splitlines()[1]) == (1, "b 1: CVE-1, mended in 2")
    skipped = {"name": "c", "skip_reason": "unknown"}
    code, told = verdict(json.dumps({"dependencies": [clean, skipped]}), "")
    assert (code, told) == (
        0,
        "no known vulnerability in 1 packages of the lock; not asked about: c",
    )
    silent = (
        (None, "ConnectionError: Max retries exceeded"),
        (json.dumps({"dependencies": [skipped]}), ""),
    )
    for report, said in silent:
        code, told = verdict(report, said)
        assert code == 0
        assert told.startswith("NOT AUDITED")
    assert verdict(None, "the lock cannot be read")[0] == 1


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(tmp_path):
    assert wrong_with(built(tmp_path)) == []
