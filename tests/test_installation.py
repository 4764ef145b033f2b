"""The wheel alone, in an empty environment: the analysis works, every extra adds what it promises, and it stays light.

The packages come from the index that pip is set to use.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.serving import free_port
from tests.helpers.warm_command import PATIENCE

MOST_PACKAGES = 40
MOST_MEGABYTES = 400
"""Of the analysis alone, as files are installed; pip then compiles modules, which takes another fifth."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT)
    return folder


def run(call: list[str], *, cwd: Path, code: int = 0) -> str:
    # Nothing of the clone or of this environment may help.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "ADJUDGE"))}
    done = subprocess.run(call, cwd=cwd, env=own, capture_output=True, text=True, check=False, timeout=2 * PATIENCE)
    assert done.returncode == code, f"{' '.join(call)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


@pytest.mark.slow
def test_wheel_and_source_distribution_hold_everything(built: Path) -> None:
    sources = ROOT / "src" / "adjudge"
    known = {
        path.relative_to(sources.parent).as_posix()
        for path in sources.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert known <= set(archive.namelist())
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in known} <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "docs/index.md", "Makefile"} <= names


class Apart:
    """An empty environment into which nothing but the wheel and its packages is installed."""

    def __init__(self, built: Path, folder: Path) -> None:
        (self.wheel,) = built.glob("*.whl")
        self.folder = folder
        run([sys.executable, "-m", "venv", "apart"], cwd=folder)
        self.python, self.command = (str(folder / "apart" / "bin" / name) for name in ("python", "adjudge"))

    def install(self, extras: str = "", *options: str) -> None:
        asked = f"{self.wheel}[{extras}]" if extras else str(self.wheel)
        pip = [self.python, "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check"]
        run([*pip, *options, asked], cwd=self.folder)

    def adjudge(self, *call: str, code: int = 0) -> str:
        return run([self.command, *call], cwd=self.folder, code=code)

    def lacks(self, extra: str, *call: str) -> None:
        """The extra that is missing is named in one sentence, with the command that gets it."""
        said = self.adjudge(*call, code=2)
        assert f"pip install 'adjudge[{extra}]'" in said, said
        assert len(said.strip().splitlines()) == 1, said


@pytest.fixture(scope="module")
def apart(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Apart:
    """One environment for all tests of this file, which run in their order: the last one adds the extras."""
    made = Apart(built, tmp_path_factory.mktemp("apart"))
    made.install()
    return made


@pytest.mark.slow
def test_the_wheel_alone_stays_light_and_names_what_is_missing(apart: Apart) -> None:
    _check_light(apart.folder, apart.python)
    apart.adjudge("simulate", "--protocol", "da", "--systems", "3", "--tasks", "12", "-o", "table.csv")
    assert "Ranking by mixed" in apart.adjudge("rank", "table.csv")
    apart.adjudge("init", "first")
    apart.lacks("serve", "serve", "first/campaign.toml")
    apart.lacks("testset", "testset", "first/source.txt")
    apart.lacks("pdf", "report", "table.csv", "-o", "report.pdf")
    apart.install("all", "--dry-run")


@pytest.mark.slow
def test_the_wheel_alone_runs_the_demo(apart: Apart) -> None:
    apart.adjudge("demo")
    assert (apart.folder / "demo" / "report.html").stat().st_size > 100_000


@pytest.mark.slow
def test_each_extra_adds_what_it_promises(apart: Apart) -> None:
    apart.install("serve")
    apart.adjudge("init", "second")
    _serve(apart.command, apart.folder)
    apart.install("testset")
    apart.adjudge("testset", "second/source.txt")
    apart.install("pdf")
    apart.adjudge("simulate", "--protocol", "da", "--systems", "3", "--tasks", "12", "-o", "again.csv")
    apart.adjudge("report", "again.csv", "-o", "report.pdf")
    assert (apart.folder / "report.pdf").read_bytes().startswith(b"%PDF")
    apart.install("metrics,postgres,cluster")
    run([apart.python, "-c", "import sacrebleu, psycopg, distributed"], cwd=apart.folder)


def _check_light(folder: Path, python: str) -> None:
    """The number of packages, and the size of what they install, without pip itself."""
    listed = run([python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"], cwd=folder).split()
    packages = [line.partition("==")[0] for line in listed if "==" in line]
    assert {"adjudge", "numpy", "polars"} <= set(packages)
    assert not {"django", "altair", "wordfreq", "spylls", "torch"} & {name.lower() for name in packages}
    assert len(packages) < MOST_PACKAGES
    (installed,) = (folder / "apart" / "lib").glob("python*/site-packages")
    size = sum(
        path.stat().st_size
        for path in installed.rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and path.relative_to(installed).parts[0] not in ("pip", "setuptools")
    )
    assert size < MOST_MEGABYTES * 1e6


def _serve(adjudge: str, folder: Path) -> None:
    port = free_port()
    with (folder / "server.txt").open("w") as log:
        call = [adjudge, "serve", "second/campaign.toml", "--port", str(port), "--links", "links.tsv"]
        server = subprocess.Popen(call, cwd=folder, stdout=log, stderr=log)
    try:
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                    assert answer.status == 200
                break
            except OSError:
                assert server.poll() is None, (folder / "server.txt").read_text()
                assert time.monotonic() < ends
                time.sleep(0.2)
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)
