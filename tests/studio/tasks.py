"""Tasks for child processes that go wrong."""

import os
import time

import numpy as np

from anylight.errors import InvalidInputError


def add(line, a, b):
    line.tell("share", share=0.5)
    return a + b


def refuse(_line):
    raise InvalidInputError("a.png: is no photo.")


def hang(_line):
    time.sleep(60)


def eat(_line):
    return float(np.ones(1 << 33, np.uint8).sum())


def vanish(_line):
    os._exit(3)


def wait(line):
    return line.heard(wait=True)
