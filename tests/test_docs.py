"""The documents are current: every command has its page, what they show can be typed, and the tutorial runs."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from bench.bench_evidence import page as evidence
from bench.bench_evidence import picture
from typer.testing import CliRunner

import adjudge
from adjudge.shell.line import app, command_tree
from adjudge.shell.reference import commands, reference, types
from tests.conftest import ROOT
from tests.helpers.warm_command import PATIENCE

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *DOCS]
COMMANDS = dict(commands(command_tree()))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"([^\"]*)\"|<link[^>]* rel=\"stylesheet\"[^>]* href=\"([^\"]*)\""
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def typed_commands(text: str) -> list[list[str]]:
    """Every line in a block of commands that calls adjudge, as words."""
    blocks = [block.replace("\\\n", " ") for kind, block in FENCE.findall(text) if kind in ("", "sh")]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("adjudge ")]


def test_the_command_reference_is_current() -> None:
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == reference(), "run make docs"


def test_the_types_of_the_python_functions_are_current() -> None:
    written = Path(adjudge.__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
    assert written == types(), "run make docs"


def test_the_evidence_page_is_what_the_stored_results_say() -> None:
    written = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert written == evidence(), "run python -m bench evidence"
    drawn = (ROOT / "docs" / "images" / "equal-systems.svg").read_text(encoding="utf-8")
    assert drawn == picture(), "run python -m bench evidence"


def test_what_other_tools_do_with_equal_systems_is_as_stored() -> None:
    stored = json.loads((ROOT / "bench" / "results" / "recipes.json").read_text(encoding="utf-8"))
    others, workshops = stored["others"], [rates["any"] for rates in stored["once"].values()]
    page = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    assert f"| rules of the workshops of 2022 to 2026 | {min(workshops):.0f} to {max(workshops):.0f}% |" in page
    assert {int(others[name]) for name in ("paired t-test", "paired bootstrap")} == {95}
    assert f"intervals of a leaderboard that do not meet | {others['bootstrapped votes']:.0f}% |" in page
    assert f"| adjudge: scores | {others['adjudge, scores']:.0f}% |" in page
    assert f"| adjudge: votes | {others['adjudge, votes']:.0f}% |" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_explained_on_a_page(name: str) -> None:
    others = [page for page in PAGES if page.name != "commands.md"]
    assert any(f"adjudge {name}" in page.read_text(encoding="utf-8") for page in others)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_summary_and_an_example_of_itself(name: str) -> None:
    summary, _, example = (COMMANDS[name].help or "").partition("Example:")
    assert summary.strip().endswith(".")
    assert f"adjudge {name}" in example


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_what_a_page_shows_can_be_typed(page: Path) -> None:
    for words in typed_commands(page.read_text(encoding="utf-8")):
        if words[0].isupper() or words[0].startswith("-"):
            continue
        name = next((" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in COMMANDS), None)
        assert name is not None, f"{page.name}: no such command: adjudge {words[0]}"
        known = {
            option for parameter in COMMANDS[name].params for option in (*parameter.opts, *parameter.secondary_opts)
        } | {"--help"}
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= known, f"{page.name}: adjudge {name} has no {sorted(used - known)}"


LONGEST_SENTENCE = 38
"""In words, without what stands in code; most sentences have fewer than 25."""
GENERATED = {"commands.md", "evidence.md"}


def paragraphs(text: str) -> list[str]:
    """The texts of a page between blank lines, headings, items of lists and borders of table cells."""
    blocks = [""]
    for line in FENCE.sub("\n", text).splitlines():
        if not line.strip("> ") or line.startswith("#"):
            blocks.append("")
        elif line.startswith("|"):
            blocks += [*re.split(r"(?<!\\)\|", line), ""]
        elif item := re.match(r"\s*(?:[-*]|\d+\.) (.*)", line):
            blocks.append(item[1])
        else:
            blocks[-1] += f" {line}"
    return blocks


def sentences(text: str) -> list[str]:
    """The sentences of a page: names in code are no words, and of a link its words count alone."""
    plain = [re.sub(r"`[^`]*`", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)) for block in paragraphs(text)]
    return [sentence for block in plain for sentence in re.split(r"(?<=[.!?])[)\"”*_]*\s", block)]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=lambda page: page.name)
def test_no_sentence_of_a_page_is_too_long(page: Path) -> None:
    counted = [(len(re.findall(r"\S*\w\S*", one)), one) for one in sentences(page.read_text(encoding="utf-8"))]
    assert [one for words, one in counted if words > LONGEST_SENTENCE] == []


def test_a_sentence_ends_where_it_ends() -> None:
    text = "# Not this\n\nOne `a b. c` two. Three\n[four five](x.md#y-z)!\n\n- Six.\n\n| seven | eight. nine |\n"
    ended = [one.split() for one in sentences(text) if one.strip()]
    assert [len(words) for words in ended] == [2, 3, 1, 1, 1, 1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    missing = [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    assert missing == []


def imports_of(page: Path) -> list[str]:
    """The imports of adjudge in the Python that a page shows."""
    shown = [block for kind, block in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "python"]
    found = [node for block in shown for node in ast.walk(ast.parse(block)) if isinstance(node, ast.ImportFrom)]
    return [ast.unparse(node) for node in found if (node.module or "").startswith("adjudge")]


@pytest.mark.parametrize("page", [page for page in PAGES if imports_of(page)], ids=lambda page: page.name)
def test_what_a_page_imports_is_there(page: Path) -> None:
    for line in imports_of(page):
        exec(line, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adaptive.md", "design.md", "simulate.md"])
def test_python_that_needs_no_data_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shown on the page, from the clone."""
    monkeypatch.chdir(ROOT)
    shown = [block for kind, block in FENCE.findall((ROOT / "docs" / name).read_text("utf-8")) if kind == "python"]
    assert shown
    for block in shown:
        exec(compile(block, name, "exec"), {})


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "people").glob("*.md")), ids=lambda page: page.stem)
def test_every_persons_tutorial_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an empty folder, in the order of the page: what is to be typed, and what is to be run in Python."""
    monkeypatch.chdir(tmp_path)
    for kind, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, page.name, "exec"), {})
        for line in block.splitlines() if kind == "sh" else ():
            run = CliRunner().invoke(app, shlex.split(line)[1:])
            assert run.exit_code == 0, (line, run.exception)


@pytest.mark.slow
def test_what_the_page_for_reviewers_says_of_equal_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers that docs/people/reviewer.md and docs/why.md quote."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "people" / "reviewer.md").read_text(encoding="utf-8")
    simulated = next(line for kind, block in FENCE.findall(text) if kind == "sh" for line in block.splitlines())
    assert CliRunner().invoke(app, shlex.split(simulated)[1:]).exit_code == 0
    nothing = "adjudge: No machine translation is shown to be better than another."
    quoted = (nothing, "zscore: 7 of 36 pairs are decided")
    for words, options in zip(quoted, ([], ["--method", "zscore"]), strict=True):
        assert words in text
        said = CliRunner().invoke(app, ["rank", "paper.csv", *options]).output
        assert words.partition(": ")[2] in said


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    steps = [shlex.split(line) for kind, block in FENCE.findall(text) if kind == "sh" for line in block.splitlines()]
    assert len(steps) > 10
    monkeypatch.chdir(tmp_path)
    for step in steps:
        assert step[0] == "adjudge"
        run = CliRunner().invoke(app, step[1:])
        assert run.exit_code == 0, (step, run.exception)
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert (tmp_path / "tables" / "en-cs-agreement.tex").exists()


@pytest.mark.slow
def test_what_pages_show_is_what_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of a ranking or of claims that these pages show; `...` stands for lines left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "220")
    texts = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("tutorial", "quickstart")}
    printed: set[str] = set()
    for line in (line for text in texts.values() for _, block in FENCE.findall(text) for line in block.splitlines()):
        if re.match("adjudge (simulate|import|rank|audit) ", line):
            printed |= {
                " ".join(said.split()) for said in CliRunner().invoke(app, shlex.split(line)[1:]).output.splitlines()
            }
    others = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("rank", "audit")}
    for name, text in (texts | others).items():
        blocks = [block for kind, block in FENCE.findall(text) if kind == "text"]
        shown = [
            line for block in blocks if re.search("rank set|audits survived", block) for line in block.splitlines()
        ]
        assert shown, name
        missing = [line for line in shown if "─" not in line and " ".join(line.split()) not in {*printed, "..."}]
        assert missing == [], name


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    """Sphinx warns of links that lead nowhere and of pages that no list names."""
    call = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(tmp_path / "read")]
    built = subprocess.run(
        [*call, str(ROOT / "docs"), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "searchindex.js").is_file()
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = LOADED.findall(page.read_text(encoding="utf-8"))
        assert not [address for pair in loaded for address in pair if "//" in address], page.name


def test_every_promise_names_tests_that_exist() -> None:
    promises = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w./]+)`", promises)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
