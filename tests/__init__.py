"""Tests compute as one processor does, whichever they run on, so that numbers written down can be compared closely."""

import os

# instructions of AVX2 at most, one thread, MKL's products alike on all processors; read when the libraries are loaded
for variable, value in {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}.items():
    os.environ.setdefault(variable, value)
