"""Tests compute as one processor does, whichever they run on, so that numbers written down can be compared closely."""

import os
import platform

# instructions of AVX2 at most, one thread, MKL's products alike on all processors; read when the libraries are loaded
AS_ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
if platform.machine() in ("x86_64", "AMD64"):
    AS_ONE |= {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_CBWR": "COMPATIBLE",
    }
for variable, value in AS_ONE.items():
    os.environ.setdefault(variable, value)
