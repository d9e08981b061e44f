"""Spare process of local mode: it has imported PyTorch, and waits for the pod that it becomes.

The kubelet starts it as ``python -c "import sys, kastor.spare; exec(kastor.spare.ready())"``, with no folder of a
script in front of ``sys.path``. It leaves a file ``ready`` in its folder, and is written one line of JSON to its
standard input once there is a pod: ``environment``, ``arguments`` (the script and what is passed to it) and ``folder``,
in which it runs. The script is then the main program of the process, as if the interpreter had been started with it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

# An optimizer imports the compiler of PyTorch when it is made.
MODULES = ("numpy", "torch", "torch._dynamo", "torch.distributed", "kastor.torch")


def ready() -> CodeType:
    """Script of the pod that this process becomes; the process ends here where its input does.

    Raises:
        ImportError: if PyTorch cannot be imported.
        OSError: if the script cannot be read.
    """
    for module in MODULES:
        importlib.import_module(module)
    Path(os.environ["KASTOR_LOCAL_FOLDER"], "ready").touch()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit()
    pod = json.loads(line)
    os.environ.update(pod["environment"])
    del os.environ["KASTOR_SPARE"]
    os.chdir(pod["folder"])
    # Python 3.10 has no such flag.
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, str(Path(pod["arguments"][0]).resolve().parent))
    return _main(pod["arguments"])


def _main(arguments: list[str]) -> CodeType:
    """Makes the main module one as if the interpreter had been started with a script."""
    script = Path(arguments[0])
    path = str(script.absolute())
    sys.argv[:] = arguments
    main: Any = sys.modules["__main__"]
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__cached__ = None
    del main.sys, main.kastor
    return compile(script.read_bytes(), path, "exec", dont_inherit=True)
