"""The compiler of the kernels.

Waiting threads must sleep, not spin: on a busy machine spinning turns every small loop into a
wait for the scheduler (milliseconds instead of microseconds). The OpenMP runtime reads its policy
when it is first used, so everything that is compiled gets numba from here.
"""

import os
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba as _numba

numba: Any = _numba
