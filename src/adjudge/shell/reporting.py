"""`report` writes everything about a campaign to one file; `demo` does so with simulated campaigns."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.shell.declare import ANALYSIS, START, command
from adjudge.shell.reading import Judged
from adjudge.table.errors import install_line
from adjudge.table.settings import REQUIRED, option, seed_option
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjudge.planning.truth import Recovery, Simulated, Truth
    from adjudge.reports.build import PairResults, Written
    from adjudge.shell.report_stages import CampaignReport, ReportSettings

TITLE = "Two simulated campaigns"
# One system is clearly the best, and several are so close that their places stay open.
QUALITIES = (-0.4, 0.8, 0.0, 1.9, 0.4, -1.2, 0.45, -0.45, 0.05)
FILES = ("judgments.parquet", "truth.json", "ranking.json", "report.html")


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """The files that `report` writes, and the title."""

    output: Path = option(
        REQUIRED,
        "The file to write (.html or .pdf), or a folder for a page per language pair.",
        "--output",
        "-o",
        only="command line",
    )
    title: str | None = option(
        None, "Title of the report.", after="method", about="title of the report; default: the file name."
    )
    tables: Path | None = option(
        None,
        "Also write every table to this folder, as CSV and LaTeX.",
        metavar="DIR",
        only="command line",
        after="documents_by",
    )
    plots: Path | None = option(
        None,
        "Also write every chart to this folder, as SVG, and as PNG with the extra pdf.",
        metavar="DIR",
        only="command line",
        after="tables",
    )
    paper: Path | None = option(
        None,
        "Also write a table, figure, paragraph and references for a paper to this folder.",
        metavar="DIR",
        only="command line",
        after="plots",
    )


def _write_report_files(judged: Judged, files: ReportFiles, settings: ReportSettings, *, json: bool) -> Written | None:
    """Compute the report and write it; JSON lists the files."""
    from adjudge.reports.files import can_write_images, check_page_ending
    from adjudge.shell.reading import read_by_pair

    if not _is_folder(files.output):
        check_page_ending(files.output)
    parts = read_by_pair(judged, divided=True, everyone=True)
    # Imported here and not above, so that the other processes start first.
    from adjudge.shell.output import progress
    from adjudge.shell.report_stages import make_report

    with progress() as tell:
        title = files.title or _title(judged.source, list(parts))
        everyone = judged.reading.options.everyone
        made = make_report(parts, replace(settings, progress=tell), title=title, everyone=everyone)
        tell("writing")
        written = _write_files(made, files)
    left_out = [f"adjudge: {name} is left out: {reason}" for name, reason in made.left_out.items()]
    if (files.paper or files.plots) and not can_write_images():
        left_out.append(f"adjudge: figures are written as SVG alone: PDF and PNG need {install_line('pdf')}")
    for line in [*left_out, *(f"wrote {path}" for path in written)]:
        print(line, file=sys.stderr)
    return _make_and_write_report(written, made) if json else None


@command(
    "report",
    ANALYSIS,
    "adjudge report data_RNK.csv --format wmt-ranking --pair en-cs -o report.html",
    about="Compute the report of a campaign: annotators, agreement, ranking, other methods, audits.",
    line=_write_report_files,
    settings="adjudge.shell.report_stages:ReportSettings",
    work=True,
    output=False,
)
def report(judged: Judged, files: ReportFiles, settings: ReportSettings) -> CampaignReport:
    """Write a report of all analyses to one self-contained HTML or PDF file.

    Returns:
        The report: `.save("report.html")` writes it, `.pairs` holds the results by language pair.
    """
    from adjudge.shell.report_stages import make_report

    source = judged.source
    name = Path(source).stem if isinstance(source, str | Path) else "Report"
    everyone = judged.reading.options.everyone
    parts = judged.read(everyone=True).by_pair()
    return make_report(parts, settings, title=files.title or name, everyone=everyone)


def _is_folder(output: Path) -> bool:
    """Whether a site is asked for: an existing folder, or a name without an ending."""
    return output.is_dir() or not output.suffix


def _write_files(made: CampaignReport, files: ReportFiles) -> list[Path]:
    """Write the page and the requested tables, charts and paper files; return their paths."""
    from adjudge.reports.files import write_page, write_site
    from adjudge.reports.latex import write_paper, write_plots, write_tables

    page = made.page()
    (write_site if _is_folder(files.output) else write_page)(page, files.output)
    if files.tables is not None:
        write_tables(page, files.tables)
    if files.plots is not None:
        write_plots(page, files.plots)
    if files.paper is not None:
        write_paper(made.pairs, files.paper)
    return [path for path in (files.output, files.tables, files.plots, files.paper) if path is not None]


def _make_and_write_report(files: list[Path], made: CampaignReport) -> Written:
    from adjudge.reports.build import Written

    about: dict[str, Any] = {name: getattr(made, name) for name in ("settings", "data", "set_aside", "notes")}
    return Written(command="report", **about, files=[str(file) for file in files], pairs=list(made.pairs))


def _title(files: Sequence[Path], pairs: Sequence[str]) -> str:
    from adjudge.table.languages import pair_title, part_word

    name = files[0].stem if len(files) == 1 else files[0].parent.name
    if len(pairs) > 1:
        return f"{name}, {len(pairs)} {part_word(pairs)}s"
    pair = pair_title(pairs[0])
    return f"{name}, {pair}" if pair else name


@dataclass(frozen=True, kw_only=True)
class DemoSettings:
    """Where `demo` writes, and its seed."""

    output: Path = option(Path("demo"), "Folder for the files.", "--output", "-o")
    seed: int = seed_option()


@command("demo", START, "adjudge demo --output demo", work=True, output=False)
def demo(settings: DemoSettings, *, json: bool) -> Written | None:
    """Run everything on simulated campaigns: check, agreement, ranking, audit and report."""
    folder, seed = settings.output, settings.seed
    for line in run_demo(folder, seed, calls=_find_typed_name(), tell=_tell):
        _tell("")
        # Whoever asks for JSON gets nothing else on standard output.
        print(line, flush=True, file=sys.stderr if json else sys.stdout)
    return _write_demo(folder, seed) if json else None


def _tell(what: str) -> None:
    """Show progress on a terminal, on a line that the next one replaces."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print(f"\r\x1b[2K  … {what}" if what else "\r\x1b[2K", end="", file=sys.stderr, flush=True)


def _find_typed_name() -> str:
    """How to type this command here: by name if the shell finds it, otherwise by path."""
    called = Path(sys.argv[0]).absolute()
    if shutil.which("adjudge") or called.name != "adjudge":
        return "adjudge"
    return str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)


def _write_demo(folder: Path, seed: int) -> Written:
    from adjudge.readers.registry import read
    from adjudge.reports.build import Written

    judgments = read([folder / "judgments.parquet"])
    return Written(
        command="demo",
        settings={"seed": seed},
        data=judgments.fingerprint,
        set_aside=judgments.set_aside,
        files=[str(folder / name) for name in FILES],
        pairs=list(judgments.by_pair()),
    )


def run_demo(folder: Path, seed: int, *, calls: str = "adjudge", tell: Callable[[str], None]) -> Iterator[str]:
    """Run and describe all steps; `calls` is how to type the command here, `tell` receives progress."""
    from adjudge.people.check import quality_of
    from adjudge.planning.truth import recovery
    from adjudge.readers import native
    from adjudge.reports.build import build_report
    from adjudge.reports.files import as_object, to_json, write_page
    from adjudge.shell.report_stages import ReportSettings, pair_results
    from adjudge.table.files import write_text
    from adjudge.table.judgments import concat

    yield "Two simulated campaigns with a known truth, from judgments to report:"
    campaigns = _simulate_campaigns(seed)
    native.write(concat([simulated.judgments for simulated in campaigns.values()]), folder / "judgments.parquet")
    truths = {name: simulated.truth.to_dict() for name, simulated in campaigns.items()}
    write_text(folder / "truth.json", to_json(truths) + "\n")
    results: dict[str, PairResults] = {}
    for name, simulated in campaigns.items():
        yield from _describe_simulation(name, simulated)
        settings = ReportSettings(texts={"": simulated.sources}, only_passing=True, seed=seed, progress=tell)
        results[name] = pair_results(quality_of(simulated.judgments), settings)
        yield from _describe_results(results[name])
        yield from _describe_recovery(recovery(simulated.truth, results[name].ranking), simulated.truth)
    tell("writing the report")
    rankings = as_object({name: result.ranking for name, result in results.items()})
    write_text(folder / "ranking.json", to_json(rankings) + "\n")
    page = folder / "report.html"
    write_page(build_report(results, title=TITLE), page)
    yield f"\nThe report is {page}: open it in a browser."
    yield f"  {page.resolve().as_uri()}"
    yield f"To continue: {calls} rank {folder / 'judgments.parquet'}, or {calls} --help."


def _simulate_campaigns(seed: int) -> dict[str, Simulated]:
    from adjudge.planning.simulate import simulate
    from adjudge.planning.simulated_rankings import RankingCampaign
    from adjudge.planning.simulated_scores import ScoreCampaign

    rankings = RankingCampaign(
        systems=9, qualities=QUALITIES, annotators=24, blocks=900, uneven=0.6, careless=0.1, length_effect=0.5,
        name="rankings",
    )  # fmt: skip
    scores = ScoreCampaign(systems=6, annotators=20, tasks=60, careless=0.1, name="scores")
    drawn = {campaign.name: simulate(campaign, seed=seed) for campaign in (rankings, scores)}
    # The names that `adjudge report` gives to the parts of the table.
    return {f"{name}/{simulated.judgments.pairs[0]}": simulated for name, simulated in drawn.items()}


def _describe_simulation(name: str, simulated: Simulated) -> Iterator[str]:
    from adjudge.readers.summary import describe

    held = describe(simulated.judgments, {})
    people = f"{counted(held.annotators, 'annotator')}, {len(simulated.truth.careless)} of them careless"
    yield f"\n{name}"
    yield f"  simulate    {counted(held.judgments, 'judgment')} of {counted(held.systems, 'system')} by {people}"


def _describe_results(results: PairResults) -> Iterator[str]:
    from adjudge.evidence.verdict import count_claims, say_headline
    from adjudge.evidence.verdict_facts import decide_by_ranking
    from adjudge.reports.audit_section import claims_of
    from adjudge.reports.people_section import choose_coefficient

    ranking, agreement = results.ranking, results.agreement
    if results.checked is not None:
        failed = [annotator.annotator for annotator in results.checked.annotators if not annotator.passed]
        tested = any(annotator.p_controls is not None for annotator in results.checked.annotators)
        all_kept = "all annotators pass" if tested else "no control items to test annotators on, all are kept"
        yield f"  check       {', '.join(failed) + ' left out' if failed else all_kept}"
    if agreement is not None:
        name, inter = choose_coefficient(agreement, agreement.inter["all"])
        _, intra = choose_coefficient(agreement, agreement.intra["all"])
        yield f"  agree       {name} {inter:.2f} between annotators, {intra:.2f} within annotators"
    claims = claims_of(results)
    decisions = decide_by_ranking(ranking, claims)
    yield f"  rank        {say_headline(decisions)}"
    apart = f"{decisions.apart} of {counted(decisions.pairs, 'pair')} of systems"
    yield f"              {apart} are decided ({ranking.method})"
    if (tournament := results.tournament) is not None:
        among = f"cycles of wins among {sum(map(len, tournament.cycles))} systems"
        proof = "proved minimal" if tournament.mfas.optimal else "not proved minimal"
        best = f"best order has {counted(tournament.mfas.cost, 'contradiction')}, {proof}"
        yield f"  tournament  {'no cycles' if tournament.acyclic else among}; {best}"
    if claims is not None:
        yield f"  audit       {count_claims(*claims.counts, decisions.pairs)}"


def _describe_recovery(recovered: Recovery, truth: Truth) -> Iterator[str]:
    tau = "–" if recovered.kendall is None else f"{recovered.kendall:.2f}"
    best = "correct" if recovered.best_found else f"wrong (the best is {truth.order[0]})"
    wrong_claims = len(recovered.wrong_claims)
    wrong = "none is wrong" if not wrong_claims else f"{wrong_claims} {agreeing(wrong_claims, 'is', 'are')} wrong"
    yield (
        f"  truth       Kendall's tau {tau} with the true order, first place {best}; "
        f"of the pairs separated by a line, {wrong}"
    )
