"""Linear algebra has one thread inside the verbs of Python, whatever the notebook around them uses."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.helpers.warm_command import PATIENCE

SCRIPT = """
import threadpoolctl
from adjudge.shell.declare import as_python_call

def threads():
    import numpy
    libraries = threadpoolctl.threadpool_info()
    return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]

print(as_python_call(threads)(), threads())
import scipy.linalg
print(as_python_call(threads)(), threads())
"""


def test_verbs_use_one_thread_and_leave_the_others_as_they_were() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    # numpy brings a library, scipy another one.
    assert done.stdout.splitlines() == ["[1] [2]", "[1, 1] [2, 2]"]
