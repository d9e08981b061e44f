"""Script that says what it finds around it, as JSON; a child of its own says the same of the script."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import sys
from typing import NamedTuple


class Pair(NamedTuple):
    """Class of the main module, which is pickled by the name of the module."""

    first: int
    second: int


def of_child(pair: Pair) -> list[object]:
    """What a child that imports the script anew makes of it."""
    return [type(pair).__module__, pair.first + pair.second]


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        child = pool.apply(of_child, (Pair(1, 2),))
    main = sys.modules["__main__"]
    found = {
        "names": sorted(vars(main)),
        "file": __file__,
        "spec": __spec__,
        "package": __package__,
        "loader": type(__loader__).__name__,
        "doc": __doc__,
        "arguments": sys.argv,
        "path": sys.path[0],
        "folder": os.getcwd(),
        "variable": os.environ.get("OWN"),
        "spare": os.environ.get("KASTOR_SPARE"),
        "pickled": pickle.loads(pickle.dumps(Pair(1, 2))) == Pair(1, 2),
        "child": child,
        "flags": list(sys.flags),
    }
    print(json.dumps(found))
    sys.exit(7)
