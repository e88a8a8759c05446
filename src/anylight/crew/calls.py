"""Compiled loops as functions of one kind: (begin, end, slots)."""

import ctypes
import itertools
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.ir as llvm_types
import numpy as np

from anylight.compiler import numba

from .engine import compiled

SLOTS = 64
"""Arguments of a loop, at most."""
_DATA, _SHAPE, _STRIDES = 16, 32, 40
"""Where an array object keeps its data, shape and strides. [bytes]"""


@cache
def knows_arrays() -> bool:
    """Whether array objects are laid out as expected."""
    probe = np.zeros((3, 5), np.float32)[:, ::2]
    words = np.ctypeslib.as_array((ctypes.c_int64 * 6).from_address(id(probe)))
    if int(words[_DATA // 8]) != probe.ctypes.data:
        return False
    shape, strides = (
        (ctypes.c_int64 * 2).from_address(int(words[place // 8])) for place in (_SHAPE, _STRIDES)
    )
    return tuple(shape) == probe.shape and tuple(strides) == probe.strides


class _Text:
    """Text of a function that reads its arguments from slots and calls a compiled loop."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.format = ""
        self._names = (f"%v{k}" for k in itertools.count())

    def _new(self, what: str) -> str:
        name = next(self._names)
        self.lines.append(f"  {name} = {what}")
        return name

    def _at(self, base: str, place: int) -> str:
        return self._new(f"getelementptr i8, ptr {base}, i64 {place}")

    def _load(self, kind: str, base: str, place: int) -> str:
        return self._new(f"load {kind}, ptr {self._at(base, place)}")

    def slot(self, kind: str, code: str) -> str:
        """The next slot."""
        self.format += code
        return self._load(kind, "%slots", 8 * (len(self.format) - 1))

    def values(self, kind: Any) -> Iterator[str]:
        """What a loop gets for an argument of some type, from the next slots."""
        types = numba.types
        if isinstance(kind, types.BaseTuple):
            for each in kind:
                yield from self.values(each)
        elif isinstance(kind, types.Array):
            array = self.slot("ptr", "q")
            data = self._load("ptr", array, _DATA)
            shape, strides = (self._load("ptr", array, place) for place in (_SHAPE, _STRIDES))
            lengths = [self._load("i64", shape, 8 * k) for k in range(kind.ndim)]
            steps = [self._load("i64", strides, 8 * k) for k in range(kind.ndim)]
            count = "1"
            for length in lengths:
                count = self._new(f"mul i64 {count}, {length}")
            size = np.dtype(str(kind.dtype)).itemsize
            yield from ("null", "null", count, str(size), data, *lengths, *steps)
        elif isinstance(kind, types.Float) and kind.bitwidth == 64:
            yield self.slot("double", "d")
        elif isinstance(kind, types.Float):
            yield self._new(f"fptrunc double {self.slot('double', 'd')} to float")
        elif isinstance(kind, types.Integer) and kind.bitwidth == 64:
            yield self.slot("i64", "q")
        elif isinstance(kind, types.Integer | types.Boolean):
            width = 8 if isinstance(kind, types.Boolean) else kind.bitwidth
            yield self._new(f"trunc i64 {self.slot('i64', 'q')} to i{width}")
        else:
            raise TypeError(f"loops on several threads do not take {kind}")


_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p)
"""A loop as it is called from here, which leaves the interpreter free."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A compiled loop for arguments of certain types, as something a crew can run."""

    address: int
    slots: struct.Struct
    has_tuples: bool
    _call: Any
    _kept: Any

    def pack(self, into: memoryview, place: int, args: Sequence[Any]) -> None:
        """Write arguments, arrays as where they are."""
        self.slots.pack_into(into, place, *self._values(args))

    def run(self, begin: int, end: int, args: Sequence[Any]) -> bool:
        """Run all of it on this thread; False if it failed."""
        return not self._call(begin, end, self.slots.pack(*self._values(args)))

    def _values(self, args: Sequence[Any]) -> list[Any]:
        flat = _flat(args) if self.has_tuples else args
        array, scalar = np.ndarray, np.generic
        return [
            id(a) if type(a) is array else a.item() if isinstance(a, scalar) else a for a in flat
        ]


def is_plain(args: Sequence[Any]) -> bool:
    """Whether all arrays are such that their fingerprints tell their types."""
    for a in args:  # a loop, because it is called before every loop of the solver
        if type(a) is np.ndarray:
            if not (a.flags.aligned and a.dtype.isnative):
                return False
        elif isinstance(a, tuple):
            if not is_plain(a):
                return False
        elif isinstance(a, np.ndarray):
            return False
    return True


def _flat(args: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for a in args:
        if isinstance(a, tuple):
            found.extend(_flat(a))
        else:
            found.append(a)
    return found


_numbers = itertools.count()


def loop_of(dispatcher: Any, args: Sequence[Any]) -> Loop:
    """The loop (begin, end, …) of a compiled function for arguments like these.

    Args:
        dispatcher: the compiled function.
        args: what it is called with, without begin and end.
    """
    kinds = tuple(dispatcher.typeof_pyval(a) for a in args)
    text = _Text()
    given = ["%begin", "%end"]
    for kind in kinds:
        given.extend(text.values(kind))
    whole = numba.types.int64
    signature = (whole, whole, *kinds)
    dispatcher.compile(signature)
    made = dispatcher.overloads[signature]
    native = dispatcher.targetctx.call_conv.get_function_type(made.signature.return_type, signature)
    names = [_name(kind) for kind in native.args]
    passed = ["%result", "%error", *given]
    if len(names) != len(passed):
        raise TypeError(f"{dispatcher.__name__} takes {len(names)} words, not {len(passed)}")
    call = ", ".join(f"{kind} {value}" for kind, value in zip(names, passed, strict=True))
    name = f"anylight_loop_{next(_numbers)}"
    at = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    if not at or made.signature.return_type != numba.types.none:
        raise TypeError(f"{dispatcher.__name__} is not a loop")
    lines = "\n".join(text.lines)
    engine = compiled(f"""
define i64 @{name}(i64 %begin, i64 %end, ptr %slots) {{
  %result = alloca [16 x i64]
  %error = alloca ptr
{lines}
  %function = inttoptr i64 {at} to ptr
  %status = call i32 %function({call})
  %good = icmp eq i32 %status, 0
  %nothing = icmp eq i32 %status, -2
  %fine = or i1 %good, %nothing
  %failed = xor i1 %fine, true
  %told = zext i1 %failed to i64
  ret i64 %told
}}
""")
    has_tuples = any(isinstance(kind, numba.types.BaseTuple) for kind in kinds)
    if len(text.format) > SLOTS:
        raise TypeError(f"{dispatcher.__name__} has too many arguments")
    slots = struct.Struct("=" + text.format)
    address = engine.get_function_address(name)
    return Loop(address, slots, has_tuples, _CALL(address), (engine, made))


def _name(kind: Any) -> str:
    return "ptr" if isinstance(kind, llvm_types.PointerType) else str(kind)
