"""What the threads of a crew do in compiled code: wait, take parts, wait for the last of them.

`left` counts the parts that nobody has taken, `active` the threads that may be reading the job: it
is changed only while no part is left and nobody is active. A job is the address of a function
(begin, end, slots), the ends of its loop, the number of parts, whether one has failed, and the
slots.
"""

import ctypes
import os
import platform
from functools import cache
from typing import Any, NamedTuple

from .engine import compiled

ACTIVE, JOB = 64, 128
"""Where they lie in a crew's memory, behind `left`, in a cache line each. [bytes]"""
_NAPS = 200
"""How often a thread looks for parts, after looking all the time, with naps in between, before it
falls asleep. Calls that give way to others without a nap keep half of a core busy that the thread
shares with the caller."""
_NAP = 100
"""Length of a nap. [microseconds]"""
_X86, _ARM = "call void @llvm.x86.sse2.pause()", "call void @llvm.aarch64.hint(i32 1)"
_PAUSES = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""What tells a processor that a thread only waits."""
_LOOPS = """
define void @anylight_part(ptr %crew, i64 %k) {{
  %job = getelementptr i8, ptr %crew, i64 {job}
  %function = load ptr, ptr %job
  %p1 = getelementptr i64, ptr %job, i64 1
  %begin = load i64, ptr %p1
  %p2 = getelementptr i64, ptr %job, i64 2
  %end = load i64, ptr %p2
  %p3 = getelementptr i64, ptr %job, i64 3
  %num = load i64, ptr %p3
  %p4 = getelementptr i64, ptr %job, i64 4
  %p5 = getelementptr i64, ptr %job, i64 5
  %length = sub i64 %end, %begin
  %next = add i64 %k, 1
  %a0 = mul i64 %length, %k
  %a1 = sdiv i64 %a0, %num
  %first = add i64 %begin, %a1
  %b0 = mul i64 %length, %next
  %b1 = sdiv i64 %b0, %num
  %last = add i64 %begin, %b1
  %failed = call i64 %function(i64 %first, i64 %last, ptr %p5)
  %bad = icmp ne i64 %failed, 0
  br i1 %bad, label %failure, label %end_of_part
failure:
  store atomic i64 1, ptr %p4 seq_cst, align 8
  br label %end_of_part
end_of_part:
  ret void
}}

define i64 @anylight_work(ptr %left, i64 %spins) {{
entry:
  %active = getelementptr i8, ptr %left, i64 {active}
  br label %wait
wait:
  %n = phi i64 [0, %entry], [%n1, %rest], [0, %leave]
  %seen = load atomic i64, ptr %left acquire, align 8
  %some = icmp sgt i64 %seen, 0
  br i1 %some, label %grab, label %idle
idle:
  %n1 = add i64 %n, 1
  %fresh = icmp ult i64 %n1, %spins
  br i1 %fresh, label %spin, label %drowsy
spin:
  {pause}
  br label %rest
drowsy:
  %over = sub i64 %n1, %spins
  %tired = icmp uge i64 %over, {naps}
  br i1 %tired, label %out, label %nap
nap:
  {nap}
  br label %rest
rest:
  br label %wait
grab:
  %u0 = atomicrmw add ptr %active, i64 1 seq_cst
  %k = atomicrmw sub ptr %left, i64 1 seq_cst
  %mine = icmp sgt i64 %k, 0
  br i1 %mine, label %run, label %leave
run:
  %index = sub i64 %k, 1
  call void @anylight_part(ptr %left, i64 %index)
  br label %leave
leave:
  %u1 = atomicrmw sub ptr %active, i64 1 seq_cst
  br label %wait
out:
  ret i64 0
}}

define i64 @anylight_settle(ptr %left, i64 %spins) {{
entry:
  %active = getelementptr i8, ptr %left, i64 {active}
  br label %wait
wait:
  %n = phi i64 [0, %entry], [%n1, %spin]
  %seen = load atomic i64, ptr %active seq_cst, align 8
  %none = icmp eq i64 %seen, 0
  br i1 %none, label %settled, label %spin
spin:
  {pause}
  %n1 = add i64 %n, 1
  %tired = icmp uge i64 %n1, %spins
  br i1 %tired, label %out, label %wait
settled:
  ret i64 1
out:
  ret i64 0
}}

define i64 @anylight_lead(ptr %left, i64 %spins) {{
entry:
  %job = getelementptr i8, ptr %left, i64 {job}
  %p3 = getelementptr i64, ptr %job, i64 3
  %num = load i64, ptr %p3
  store atomic i64 %num, ptr %left seq_cst, align 8
  br label %grab
grab:
  %k = atomicrmw sub ptr %left, i64 1 seq_cst
  %mine = icmp sgt i64 %k, 0
  br i1 %mine, label %run, label %wait
run:
  %index = sub i64 %k, 1
  call void @anylight_part(ptr %left, i64 %index)
  br label %grab
wait:
  %settled = call i64 @anylight_settle(ptr %left, i64 %spins)
  ret i64 %settled
}}
"""


def _nap() -> str:
    """A call that takes a nap."""
    if os.name == "nt":
        sleeps, length = ctypes.WinDLL("kernel32").Sleep, 1  # type: ignore[attr-defined]
    else:
        sleeps, length = ctypes.CDLL(None).usleep, _NAP
    place = ctypes.cast(sleeps, ctypes.c_void_p).value
    return f"call i32 inttoptr (i64 {place} to ptr)(i32 {length})"


class Waiting(NamedTuple):
    """Functions (memory, looks), which leave the interpreter's lock free."""

    work: Any
    """Take parts until there are none for a while."""
    lead: Any
    """Offer a job's parts, take some, wait for the rest: whether all are done."""
    settle: Any
    """Wait: whether nobody is active."""
    kept: Any


@cache
def waiting() -> Waiting:
    """Work, lead and settle, which leave the interpreter's lock free; and what keeps them."""
    pause = _PAUSES.get(platform.machine(), "")
    declared = pause.replace("call", "declare").replace("i32 1", "i32")
    text = _LOOPS.format(active=ACTIVE, job=JOB, pause=pause, nap=_nap(), naps=_NAPS)
    engine = compiled(declared + text)
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    work, lead, settle = (
        kind(engine.get_function_address(f"anylight_{name}")) for name in ("work", "lead", "settle")
    )
    return Waiting(work, lead, settle, engine)
