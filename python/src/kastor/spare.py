"""Spare process of local mode: it has imported PyTorch, and waits for the pod that it becomes.

The kubelet starts it as ``python -c "import kastor.spare; exec(kastor.spare.ready())"`` and writes one line of JSON to
its standard input once there is a pod: ``environment``, ``arguments`` (the script and what is passed to it) and
``folder``, in which it runs. The script is then the main program of the process, as if the interpreter had been
started with it.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

# An optimizer imports the compiler of PyTorch when it is made.
MODULES = ("numpy", "torch", "torch._dynamo", "torch.distributed", "kastor.torch")

# Libraries read variables such as OMP_NUM_THREADS when they are imported.
SETS_VARIABLES = re.compile(rb"environ\[[^\]]*\]\s*=[^=]|environ\.(?:update|setdefault|pop)\(|putenv\(|load_dotenv\(")


def ready() -> CodeType:
    """Script of the pod that this process becomes; the process ends here where its input does.

    A script that sets variables gets a new interpreter, in this process: it may do so before it imports PyTorch.

    Raises:
        ImportError: if PyTorch cannot be imported.
    """
    for module in MODULES:
        importlib.import_module(module)
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit()
    pod = json.loads(line)
    os.environ.update(pod["environment"])
    del os.environ["KASTOR_SPARE"]
    os.chdir(pod["folder"])
    arguments = pod["arguments"]
    try:
        source = Path(arguments[0]).read_bytes()
    except OSError:
        source = None
    if source is None or SETS_VARIABLES.search(source):
        # Without its last two options, which made it wait.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:-2], *arguments])
    return _main(arguments, source)


def _main(arguments: list[str], source: bytes) -> CodeType:
    """Makes the main module one as if the interpreter had been started with a script."""
    script = Path(arguments[0])
    path = str(script.absolute())
    sys.argv[:] = arguments
    if not sys.flags.safe_path:
        sys.path[0] = str(script.resolve().parent)
    main: Any = sys.modules["__main__"]
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__cached__ = None
    del main.kastor
    return compile(source, path, "exec", dont_inherit=True)
