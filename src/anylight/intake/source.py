"""Where a capture comes from: which files are photos, in which of the dialects people use."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from anylight.errors import InvalidInputError
from anylight.io.capture import (
    MASK_NAME,
    NOTES_NAME,
    CaptureNotes,
    is_mask,
    natural_key,
    read_notes,
)
from anylight.io.images import PHOTO_SUFFIXES
from anylight.io.lp import read_lp
from anylight.io.metadata import Coding
from anylight.io.text import small_text
from anylight.model.capture import MIN_PHOTOS

from .arrays import Arrays, read_mat, read_npz
from .fingerprint import is_result
from .photo import FOREIGN_SUFFIXES, READABLE, refuse_foreign
from .raw import RAW_SUFFIXES

_LINO = re.compile(r"L[ _(-]*\d+\)?", re.IGNORECASE)
_DERIVED = {"normal", "normals", "normal_gt", "normal_map", "nml_predict", "basecolor", "albedo",
            "roughness", "metallic", "depth", "confidence", "openness", "mesh_texture"}  # fmt: skip
"""Names of images that are results, not photos."""


_NO_NOTES = CaptureNotes()


@dataclass(frozen=True, eq=False)
class Source:
    """A capture that was found but not read yet."""

    name: str
    dialect: str
    """In words, for the user."""
    folder: Path
    """Where mask, intrinsics and notes are looked for."""
    photos: tuple[Path, ...] = ()
    arrays: Arrays | None = None
    """Photos, mask and intrinsics that came as arrays in one file."""
    notes: CaptureNotes = _NO_NOTES
    coding: Coding | None = None
    """How this dialect codes 8-bit files."""
    directions: Float[np.ndarray, "M 3"] | None = None
    """Light of every photo where the dialect knows it, camera frame; ours never looks at it."""
    intensities: Float[np.ndarray, "M 3"] | None = None
    left_out: tuple[str, ...] = ()
    """Images in the folder that are not photos."""


def find_source(path: Path) -> Source:
    """Recognise the dialect of a folder or file."""
    path = Path(path)
    if path.is_file():
        return _file(path)
    if not path.is_dir():
        raise InvalidInputError(f"{path}: no such folder; give the folder of the photos.")
    if is_result(path):
        raise InvalidInputError(
            f"{path}: is the result of a run, not photos; give the folder of the photos."
        )
    inner = sorted(folder for folder in path.glob("*.data") if folder.is_dir())
    if (path / "objects.txt").is_file():
        return find_source(_only(path, _lines(path / "objects.txt")))
    if inner and not _photos_in(path):
        return find_source(_only(path, [folder.name for folder in inner]))
    for listing in ("filenames.txt", "names.txt"):
        if (path / listing).is_file():
            return _chosen(_listed(path, path / listing))
    scripts = [file for file in path.iterdir() if file.suffix.lower() == ".lp" and file.is_file()]
    if len(scripts) == 1:
        return _chosen(_rti(scripts[0]))
    return _plain(path)


def _file(path: Path) -> Source:
    suffix = path.suffix.lower()
    name = path.stem
    if suffix == ".mat":
        return Source(name, "MATLAB file", path.parent, arrays=read_mat(path), coding="linear")
    if suffix == ".npz":
        return Source(name, "NPZ archive", path.parent, arrays=read_npz(path), coding="linear")
    if suffix == ".lp":
        return _chosen(_rti(path))
    refuse_foreign(path)
    raise InvalidInputError(
        f"{path}: is a single file; give the folder of the photos (or a .mat, .npz or .lp file)."
    )


def _only(path: Path, names: list[str]) -> Path:
    """Give the one object of a data set; of several the user must name one."""
    names = [name for name in names if Path(name).name == name != ".."]
    folders = [path / name for name in names if (path / name).is_dir()]
    if not folders:
        raise InvalidInputError(
            f"{path / 'objects.txt'}: names no folder beside it; give the folder of the photos."
        )
    if len(folders) > 1:
        raise InvalidInputError(
            f"{path}: holds {len(folders)} objects ({', '.join(f.name for f in folders[:5])}"
            f"{' …' if len(folders) > 5 else ''}); give the folder of one of them."
        )
    return folders[0]


def _lines(path: Path) -> list[str]:
    try:
        text = small_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path}: cannot be read as text ({error}).") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def _listed(folder: Path, listing: Path) -> Source:
    """Folders of DiLiGenT (filenames.txt) and of the SDPS/UPS toy sets (names.txt)."""
    photos = tuple(folder / name for name in _lines(listing))
    for photo in photos:
        if not photo.resolve().is_relative_to(folder.resolve()) or not photo.is_file():
            raise InvalidInputError(f"{listing}: names {photo.name}, which is not in the folder.")
    _enough(folder, photos)
    directions = _table(folder / "light_directions.txt", len(photos))
    return Source(
        name=folder.resolve().name,
        dialect="DiLiGenT folder" if listing.name == "filenames.txt" else "SDPS folder",
        folder=folder,
        photos=photos,
        notes=read_notes(folder / NOTES_NAME),
        coding="linear",
        directions=None if directions is None else directions * [1.0, -1.0, -1.0],
        intensities=_table(folder / "light_intensities.txt", len(photos)),
    )


def _table(path: Path, rows: int) -> Float[np.ndarray, "M 3"] | None:
    if not path.is_file():
        return None
    try:
        table = np.array([[float(word) for word in line.split()] for line in _lines(path)])
    except ValueError as error:
        raise InvalidInputError(f"{path}: holds something else than numbers ({error}).") from error
    if table.shape != (rows, 3) or not np.isfinite(table).all():
        raise InvalidInputError(f"{path}: must hold three numbers for each of the {rows} photos.")
    return table


def _rti(script: Path) -> Source:
    """Photos named by an RTI light file."""
    entries = read_lp(script)
    photos = []
    for name, _ in entries:
        forward = name.replace("\\", "/")
        places = (script.parent / word for word in (name, forward, forward.rsplit("/")[-1]))
        found = [place for place in places if place.is_file()]
        if not found:
            raise InvalidInputError(f"{script}: names {name}, which is not beside it.")
        photos.append(found[0])
    _enough(script.parent, photos)
    directions = np.array([direction for _, direction in entries])
    return Source(
        name=script.parent.resolve().name,
        dialect=f"RTI folder ({script.name})",
        folder=script.parent,
        photos=tuple(photos),
        notes=read_notes(script.parent / NOTES_NAME),
        directions=directions * [1.0, -1.0, -1.0],
    )


def _chosen(source: Source) -> Source:
    """Of the photos that a dialect lists, those that capture.toml names, in its order."""
    if not source.notes.files:
        return source
    wanted = _named(source.folder, source.notes.files)
    places = {path.name: place for place, path in enumerate(source.photos)}
    for path in wanted:
        if path.name not in places:
            raise InvalidInputError(
                f"{source.folder / NOTES_NAME}: names {path.name}, which the {source.dialect} does "
                "not list."
            )
    _enough(source.folder, wanted)
    chosen = [places[path.name] for path in wanted]
    return replace(
        source,
        photos=tuple(source.photos[place] for place in chosen),
        directions=None if source.directions is None else source.directions[chosen],
        intensities=None if source.intensities is None else source.intensities[chosen],
    )


def _plain(folder: Path) -> Source:
    notes = read_notes(folder / NOTES_NAME)
    name = folder.resolve().name
    if notes.files:
        photos = _named(folder, notes.files)
        _enough(folder, photos)
        return Source(name, "plain folder", folder, photos, notes=notes)
    everything = _photos_in(folder)
    doubled = _beside_raw(everything)
    derived = {path for path in everything if path.stem.lower() in _DERIVED}
    lino = [path for path in everything if _LINO.fullmatch(path.stem)]
    others = set(everything) - set(lino) - derived
    is_lino = len(lino) >= MIN_PHOTOS and (folder.suffix == ".data" or not others)
    photos = tuple(lino if is_lino else [p for p in everything if p not in doubled | derived])
    _enough(folder, photos)
    unread = [p for p in sorted(folder.iterdir()) if p.suffix.lower() in FOREIGN_SUFFIXES]
    left_out = tuple(path.name for path in [*everything, *unread] if path not in photos)
    if is_lino:
        return Source(
            name, "SDM-UniPS folder", folder, photos, notes=notes, coding="srgb", left_out=left_out
        )
    return Source(name, "plain folder", folder, photos, notes=notes, left_out=left_out)


def _beside_raw(photos: list[Path]) -> set[Path]:
    """Photos that are there as RAW too, and RAW files that were converted to DNG."""
    raw_stems = {path.stem for path in photos if path.suffix.lower() in RAW_SUFFIXES}
    converted = {path.stem for path in photos if path.suffix.lower() == ".dng"}
    return {
        path
        for path in photos
        if (path.suffix.lower() not in RAW_SUFFIXES and path.stem in raw_stems)
        or (path.suffix.lower() != ".dng" and path.stem in converted)
    }


def _named(folder: Path, names: tuple[str, ...]) -> tuple[Path, ...]:
    for name in names:
        if Path(name).name != name:
            raise InvalidInputError(
                f"{folder / NOTES_NAME}: '{name}' must be a file name without folders."
            )
    if len(set(names)) < len(names):
        raise InvalidInputError(f"{folder / NOTES_NAME}: lists a photo twice; remove one.")
    return tuple(folder / name for name in names)


def _photos_in(folder: Path) -> list[Path]:
    return sorted(
        (
            path
            for path in folder.iterdir()
            if path.suffix.lower() in READABLE
            and path.is_file()
            and not path.name.startswith(".")
            and not is_mask(path)
        ),
        key=lambda path: natural_key(path.name),
    )


def _is_seen_folder(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".") and not is_result(path)


def _enough(folder: Path, photos: Iterable[Path]) -> None:
    count = len(tuple(photos))
    if count >= MIN_PHOTOS:
        return
    if not count:
        for path in sorted(folder.iterdir()):
            refuse_foreign(path)
        inner = [p.name for p in sorted(folder.iterdir()) if _is_seen_folder(p) and _photos_in(p)]
        if inner:
            raise InvalidInputError(
                f"{folder}: holds no photos itself, but its folders do ({', '.join(inner[:5])}"
                f"{' …' if len(inner) > 5 else ''}); give one of them."
            )
    kinds = ", ".join(suffix[1:].upper() for suffix in PHOTO_SUFFIXES if suffix != ".tif")
    raise InvalidInputError(
        f"{folder}: holds {count} photo(s) ({kinds} or camera RAW, besides {MASK_NAME}); at least "
        f"{MIN_PHOTOS} are needed, 10 to 25 under clearly different light work best."
    )
