"""Tests of the wheel and the source distribution: what is in them, and that they work without PyTorch."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
import zipfile
from email.message import Message
from email.parser import Parser

import pytest

PROJECT = pathlib.Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "kastor"
(VERSION,) = re.findall('^version = "(.+)"$', (PROJECT / "pyproject.toml").read_text(), re.MULTILINE)


def build(project: pathlib.Path, out: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Builds wheel and source distribution with the tools that are installed, without network."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=600)
    (wheel,) = out.glob("*.whl")
    (source,) = out.glob("*.tar.gz")
    return wheel, source


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, pathlib.Path]:
    return build(PROJECT, tmp_path_factory.mktemp("built"))


def sources() -> set[str]:
    """The package's files, from the folder above it."""
    files = (path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*") if path.is_file())
    return {str(file) for file in files if not any(part.startswith((".", "__pycache__")) for part in file.parts)}


def metadata(wheel: pathlib.Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(f"kastor-{VERSION}.dist-info/METADATA").decode())


def test_version_is_that_of_the_project() -> None:
    pom = xml.etree.ElementTree.parse(PROJECT.parent / "pom.xml")
    version = pom.findtext("{http://maven.apache.org/POM/4.0.0}version")
    assert version is not None
    assert re.sub("-SNAPSHOT$", ".dev0", version) == VERSION


@pytest.mark.slow
def test_wheel_holds_the_package_and_its_licence_alone(built: tuple[pathlib.Path, pathlib.Path]) -> None:
    wheel, _ = built
    assert wheel.name == f"kastor-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        licence = archive.read(f"kastor-{VERSION}.dist-info/licenses/LICENSE")
    assert {name for name in names if ".dist-info/" not in name} == sources()
    assert "kastor/py.typed" in names
    assert licence == (PROJECT.parent / "LICENSE").read_bytes()


def test_wheel_asks_for_numpy_alone_and_never_bounds_torch(built: tuple[pathlib.Path, pathlib.Path]) -> None:
    asked = metadata(built[0]).get_all("Requires-Dist", [])
    assert [name for name in asked if "extra ==" not in name] == ["numpy>=1.26"]
    assert "torch; extra == 'torch'" in asked
    assert set(metadata(built[0]).get_all("Provides-Extra", [])) == {"torch", "lightning", "transformers"}


@pytest.mark.slow
def test_wheel_of_the_source_distribution_is_the_same_byte_for_byte(
    built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    wheel, source = built
    with tarfile.open(source) as archive:
        assert all(member.isfile() for member in archive), "a link would lead out of the distribution"
        archive.extractall(tmp_path, filter="data")
    again, _ = build(tmp_path / f"kastor-{VERSION}", tmp_path / "again")
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


# Runs in a process of its own: imports every module of the core, and says which could not be and where kastor lies.
IMPORT_WITHOUT_TORCH = """
import sys
site, *modules = sys.argv[1:]
sys.path.insert(0, site)
for framework in ("torch", "lightning", "pytorch_lightning", "transformers"):
    sys.modules[framework] = None  # An import of it raises ImportError.
import importlib, json
print(json.dumps({module: importlib.import_module(module).__file__ for module in modules}))
"""


@pytest.mark.slow
def test_core_of_the_installed_wheel_imports_without_torch(
    built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "--target", str(site), str(built[0])], check=True, capture_output=True, timeout=600)
    # Modules that need a framework have its name; the others beside them are the core, the folders below them are not.
    not_core = {"__init__", "torch", "lightning", "transformers"}
    modules = ["kastor", *(f"kastor.{path.stem}" for path in PACKAGE.glob("*.py") if path.stem not in not_core)]
    command = [sys.executable, "-I", "-c", IMPORT_WITHOUT_TORCH, str(site), *modules]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert set(found) == set(modules)
    assert all(pathlib.Path(path).is_relative_to(site) for path in found.values())
    assert len(modules) > 1
