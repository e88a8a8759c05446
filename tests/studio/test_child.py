"""A child that goes wrong is heard of in one sentence, and the parent lives on."""

import sys

import pytest

from anylight.studio.child import Child, Limits


def told(task, limits=Limits(), word=None, **arguments):  # noqa: B008
    messages = []
    child = Child(f"studio.tasks:{task}", arguments, messages.append, limits)
    if word is not None:
        child.ask(word)
    child.join()
    return messages


def test_a_task_tells_and_returns():
    first, last = told("add", a=2, b=3)
    assert first == {"kind": "share", "share": 0.5}
    assert last == {"kind": "done", "result": 5}


def test_a_child_hears():
    assert told("wait", word="stop")[-1] == {"kind": "done", "result": "stop"}


def test_what_a_file_is_refused_for_is_passed_on():
    assert told("refuse")[-1] == {"kind": "failed", "sentence": "a.png: is no photo."}


def test_time_is_limited():
    (message,) = told("hang", Limits(seconds=3))
    assert "3 seconds" in message["sentence"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot limit it this way")
def test_memory_is_limited():
    (message,) = told("eat", Limits(memory=4 * 2**30))
    assert "memory" in message["sentence"]


def test_a_crash_is_told():
    (message,) = told("vanish")
    assert message["kind"] == "failed"
