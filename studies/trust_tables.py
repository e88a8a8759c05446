"""Tables of docs/reliability.md from docs/results/trust.json."""

import json
from typing import Any

_ROWS = (
    ("kills_run", "kills_broken", "runs killed (SIGKILL) at random times"),
    ("kills_resumed", None, "long runs killed that went on, cast shadows included"),
    ("kills_batch", None, "coordinators of batches killed"),
    ("kills_bench", None, "coordinators of benchmarks killed"),
    ("corpus", "corpus_broken", "bad captures"),
    ("faults", "faults_broken", "writes that failed (disk full, no permission, device, size)"),
    ("options", "options_broken", "random combinations of options"),
    ("fuzz", "fuzz_broken", "damaged files handed to parsers"),
    ("guided", "guided_broken", "files made by atheris"),
)

_BUSY = 1.5
"""Programs that want each core from which a machine is busy with other work."""


def trust_table(kept: dict[str, dict[str, Any]]) -> str:
    """What was tried and how often the law was broken, by length."""
    names = {"short": "`make trust`", "long": "`make trust-long`"}
    lengths = [name for name in names if name in kept]
    lines = ["| tried | " + " | ".join(names[n] for n in lengths) + " | broken |"]
    lines.append("|---|" + "---|" * len(lengths) + "---|")
    for key, broken, words in _ROWS:
        if not any(key in kept[name] for name in lengths):
            continue
        counts = [f"{kept[name].get(key, 0):,}".replace(",", " ") for name in lengths]
        wrong = sum(kept[name].get(broken, 0) for name in lengths) if broken else None
        lines.append(f"| {words} | {' | '.join(counts)} | {'' if wrong is None else wrong} |")
    minutes = [str(kept[name]["minutes"]) for name in lengths]
    lines.append(f"| minutes | {' | '.join(minutes)} | |")
    if all("cpu_minutes" in kept[name] for name in lengths):
        busy = [str(kept[name]["cpu_minutes"]) for name in lengths]
        lines.append(f"| minutes of one core's time | {' | '.join(busy)} | |")
    days = ", ".join(f"{names[n]} on {kept[n]['day']}" for n in lengths)
    versions = ", ".join(dict.fromkeys(f"Python {kept[n]['python']}" for n in lengths))
    for name in lengths:
        wanted = kept[name].get("load", 0.0) / kept[name].get("cores", 1)
        if wanted > _BUSY:
            versions += f", each core wanted by {wanted:.0f} programs at once in the {name} form"
    soak = " The long form has not been run for this page yet."
    if "long" in kept:
        work = kept["long"].get("minutes_of_work", kept["long"]["minutes"])
        soak = f" The long form rested in between: {work} minutes of it were work."
    notes = "".join(f" {kept[name]['note']}" for name in lengths if "note" in kept[name])
    return "\n".join(lines) + f"\n\nMeasured: {days}; {versions}; two cores, Linux.{soak}{notes}"


def parsers_line(kept: dict[str, dict[str, Any]]) -> str:
    """How many files every parser got."""
    counts: dict[str, int] = {}
    for summary in kept.values():
        for part in ("fuzz_parsers", "guided_parsers"):
            for name, count in summary.get(part, {}).items():
                counts[name] = counts.get(name, 0) + count
    words = ", ".join(f"{name} {count:,}".replace(",", " ") for name, count in counts.items())
    return f"Files by parser: {words}."


def resume_line(measured: dict[str, Any] | None) -> str:
    """What a killed run repeats."""
    if measured is None:
        return ""
    pixels = f"{measured['pixels']:,}".replace(",", " ")
    busy = measured["load"] / measured["cores"]
    return (
        f"Measured: a solve of {pixels} pixels with cast shadows took {measured['seconds']:.0f} s, "
        f"{measured['writing_seconds']:.1f} s of them for its memories; killed at its end, it took "
        f"{measured['repeated_seconds']:.1f} s when started again. A kill costs that and the part "
        f"at work, of which the longest took {measured['longest_part_seconds']:.0f} s "
        f"(`python -m studies.trust.resume`; {busy:.0f} programs wanted each core, so that all of "
        "it took longer than it would alone)."
    )


def filled(template: str, results: str) -> str:
    """The page, from its template and the saved figures."""
    kept = json.loads(results)
    page = template.replace("{{TRUST_TABLE}}", trust_table(kept))
    page = page.replace("{{TRUST_RESUME}}", resume_line(kept.get("resume")))
    return page.replace("{{TRUST_PARSERS}}", parsers_line(kept))
