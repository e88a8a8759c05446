"""Documents that are tied to the code say what the code says."""

import ast
import re
import sys
from pathlib import Path

import pytest
from studies.declared import KINDS, declared

import anylight

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "anylight"
sys.path.insert(0, str(ROOT / "docs"))


def rooms(folder: Path) -> set[str]:
    """Packages and modules of a folder."""
    names = {path.stem for path in folder.glob("*.py")} | {
        path.name for path in folder.iterdir() if (path / "__init__.py").is_file()
    }
    return names - {"__init__"}


def rows(text: str) -> set[str]:
    """First cells of all tables, where they are a name."""
    return set(re.findall(r"^\| `([\w/]+)` \|", text, re.MULTILINE))


def test_every_room_has_its_sentence():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    inside = {f"joint/{name}" for name in rooms(SOURCE / "joint")}
    assert rows(text) == rooms(SOURCE) | inside


@pytest.mark.parametrize("page", ["architecture.md", "notation.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert named
    assert [name for name in sorted(named) if not (SOURCE / name).is_file()] == []


def test_files_that_the_method_names_exist():
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    places = (SOURCE, SOURCE / "joint")
    missing = [n for n in sorted(named) if not any((place / n).is_file() for place in places)]
    assert missing == []


def test_the_page_of_public_names_is_up_to_date():
    import api  # noqa: PLC0415

    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api.page()


def test_every_public_name_loads_and_is_described():
    for name in anylight._homes():
        thing = getattr(anylight, name)
        assert thing.__doc__, name
    with pytest.raises(AttributeError):
        _ = anylight.nothing


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.py")), ids=lambda p: p.name)
def test_examples_import_public_names_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("anylight"), node.module
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("anylight.") for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "anylight" or node.attr in anylight._homes(), node.attr


def test_every_number_of_the_default_says_its_unit_or_why_it_has_none():
    unclear = [c.key for c in declared() if not c.unit and c.kind not in KINDS]
    assert unclear == []


def test_every_tuned_number_was_measured():
    from studies.cells import Cells  # noqa: PLC0415
    from studies.constants import (  # noqa: PLC0415
        BASE,
        NEAR_SCENES,
        RESULTS,
        SCENES,
        SHADOW_SCENES,
        scenes_for,
        tuned,
    )

    measured = {(row["key"], row["scene"]) for row in Cells(RESULTS).rows}
    wanted = {(BASE, scene) for scene in SCENES | SHADOW_SCENES | NEAR_SCENES}
    wanted |= {(c.key, scene) for c in tuned() for scene in scenes_for(c.key)}
    assert sorted(wanted - measured) == []
