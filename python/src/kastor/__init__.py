"""Client of Kastor for training in Python: elastic, goodput-aware, exactly-once.

The modules of this package need the standard library and numpy alone; ``kastor.torch`` needs
PyTorch. A training script starts at :func:`kastor.torch.init`.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("kastor")
except PackageNotFoundError:  # read from a source folder that is not installed
    __version__ = "0"
