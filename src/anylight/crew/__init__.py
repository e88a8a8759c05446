"""Threads that wait in compiled code for parts of loops.

Handing a part of a compiled loop to a Python thread takes the interpreter's lock twice and wakes a
sleeping thread twice, 50 to 800 microseconds in all; many loops are shorter. Here the threads look
for parts in compiled code, without the lock (3 microseconds), and fall asleep when there were none
for a while. Parts are taken from a common counter, also by the thread that asks for them: nobody
waits for a thread that is late.
"""
