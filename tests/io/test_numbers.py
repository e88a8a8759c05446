"""Archives of strangers: never objects, never more than the file holds or the memory takes."""

import io
import zipfile

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.io import room
from anylight.io.numbers import read_npy, read_npz


def npy(array, **more):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **more)
    return file.getvalue()


def header(shape, descr="<f8"):
    file = io.BytesIO()
    words = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, words)
    return file.getvalue()


def refused(read, path, *words):
    with pytest.raises(InvalidInputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert "pickle" not in message
    for word in (path.name, *words):
        assert word in message, message


def test_python_objects_are_never_read_nor_advised(tmp_path):
    objects = np.array([{"a": 1}, None], dtype=object)
    np.savez(tmp_path / "a.npz", mask=objects)
    np.save(tmp_path / "a.npy", objects)
    refused(read_npz, tmp_path / "a.npz", "Python objects", "numbers")
    refused(read_npy, tmp_path / "a.npy", "Python objects", "numbers")
    for name in ("b.npz", "b.npy"):
        (tmp_path / name).write_bytes(b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00K\x01.")
    refused(read_npz, tmp_path / "b.npz")
    refused(read_npy, tmp_path / "b.npy")


def test_a_header_that_promises_more_than_the_file_holds(tmp_path):
    huge = header((10**6, 10**6))
    (tmp_path / "a.npy").write_bytes(huge + b"\0" * 64)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("mask.npy", huge + b"\0" * 64)
    refused(read_npy, tmp_path / "a.npy", "cut off")
    refused(read_npz, tmp_path / "a.npz", "cut off")


def test_a_bomb_is_stopped_before_it_is_unpacked(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("photos.npy", npy(np.zeros((64, 1024, 128))))
    assert (tmp_path / "a.npz").stat().st_size < 10**5
    monkeypatch.setattr(room, "_of_machine", lambda: 2**24)
    refused(read_npz, tmp_path / "a.npz", "64.0 MiB", "16.0 MiB")
    assert not read_npz(tmp_path / "a.npz", ["mask"])


def test_free_memory_is_the_least_of_machine_and_container(tmp_path):
    assert room.free_memory(tmp_path) > 0
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert room.free_memory(tmp_path) == 2000
    (tmp_path / "memory.max").write_text("max\n")
    assert room.free_memory(tmp_path) > 2000
