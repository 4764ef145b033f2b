"""`adjudge simulate`: judgments with a known truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from adjudge.results.simulate import Simulated
    from adjudge.simulate import RankingCampaign, ScoreCampaign

SIMULATED = ("ranking", "da")


def simulate(
    output: o.Table,
    truth: Annotated[Path | None, typer.Option(help="Write the true qualities to this JSON file.")] = None,
    sources: Annotated[Path | None, typer.Option(help="Write a source text for every segment to this file.")] = None,
    protocol: Annotated[str, typer.Option(help="How annotators judge: ranking or da (direct assessment).")] = "ranking",
    systems: Annotated[int, typer.Option(help="Number of machine translation systems.")] = 8,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 20,
    documents: Annotated[int, typer.Option(help="Number of documents.")] = 20,
    segments: Annotated[int, typer.Option(help="Segments per document (da: on average).")] = 10,
    spread: Annotated[
        float | None, typer.Option(help="Standard deviation of system quality. Default: 1 log-odds; da: 4 points.")
    ] = None,
    qualities: Annotated[
        str | None, typer.Option(help="The quality of each system, comma-separated, in log-odds (da: points).")
    ] = None,
    careless: Annotated[float, typer.Option(help="Share of annotators who judge at random.")] = 0.0,
    blocks: Annotated[int, typer.Option(help="ranking: number of blocks (screens).")] = 600,
    block_size: Annotated[int, typer.Option(help="ranking: systems per block.")] = 5,
    ties: Annotated[float, typer.Option(help="ranking: how likely ties are (Davidson's nu).")] = 0.5,
    reference: Annotated[float, typer.Option(help="ranking: share of blocks that include the reference.")] = 0.2,
    uneven: Annotated[
        float, typer.Option(help="ranking: how much more often similar systems meet; 0: all pairs equally often.")
    ] = 0.0,
    repeats: Annotated[float, typer.Option(help="ranking: share of blocks repeated by the same annotator.")] = 0.05,
    overlap: Annotated[float, typer.Option(help="ranking: share of blocks also judged by a second annotator.")] = 0.2,
    length_effect: Annotated[float, typer.Option(help="ranking: how much harder long source texts are.")] = 0.0,
    blanks: Annotated[float, typer.Option(help="ranking: share of ranks left blank.")] = 0.0,
    tasks: Annotated[int, typer.Option(help="da: number of tasks, each for one annotator.")] = 60,
    task_size: Annotated[int, typer.Option(help="da: judgments per task, including controls.")] = 100,
    context: Annotated[bool, typer.Option(help="da: show whole documents, or single segments.")] = True,
    controls: Annotated[float, typer.Option(help="da: share of control items in a task.")] = 0.3,
    humans: Annotated[int, typer.Option(help="da: number of human translations judged like systems.")] = 1,
    taste: Annotated[
        float | None,
        typer.Option(help="Standard deviation of annotators' tastes for systems. Default: 0.4 log-odds; da: 3 points."),
    ] = None,
    scale: Annotated[
        float, typer.Option(help="da: variation in how widely annotators spread their scores (sd of the log).")
    ] = 0.3,
    ends: Annotated[
        bool, typer.Option(help="da: round scores to whole numbers from 0 to 100, or keep them as drawn.")
    ] = True,
    workload: Annotated[
        float, typer.Option(help="da: variation in the number of tasks per annotator (sd of the log).")
    ] = 0.5,
    pair: Annotated[str, typer.Option("--pair", "-p", help="Language pair to write to the table.")] = "src-tgt",
    campaigns: Annotated[
        int,
        typer.Option(min=1, help="Number of campaigns, each with the next seed; their files are numbered."),
    ] = 1,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
) -> None:
    """Simulate a campaign with known system qualities, to try out methods and designs.

    Example: adjudge simulate -o judgments.parquet --truth truth.json --systems 12 --uneven 1 --careless 0.1
    """
    from adjudge.cli.output import write_output
    from adjudge.simulate import simulate_many

    common = {
        "annotators": annotators,
        "documents": documents,
        "segments": segments,
        "careless": careless,
        "pair": pair,
    }
    if protocol == "ranking":
        given = {
            **common, "blocks": blocks, "block_size": block_size, "ties": ties, "reference": reference,
            "uneven": uneven, "repeats": repeats, "overlap": overlap, "length_effect": length_effect, "blanks": blanks,
        }  # fmt: skip
    else:
        given = {
            **common, "tasks": tasks, "task_size": task_size, "context": context, "controls": controls,
            "humans": humans, "scale": scale, "ends": ends, "workload": workload,
        }  # fmt: skip
    if taste is not None:
        given["system_taste" if protocol == "ranking" else "taste"] = taste
    drawn = simulate_many(_campaign(protocol, systems, spread, qualities, given), campaigns, seed=seed)
    for number, simulated in enumerate(drawn, start=1):
        beside = (file and _numbered(file, number, campaigns) for file in (truth, sources))
        _write(simulated, _numbered(output, number, campaigns), *beside)
    names = [pair] if campaigns == 1 else [f"{pair} {number}" for number in range(1, campaigns + 1)]
    write_output({name: simulated.truth for name, simulated in zip(names, drawn, strict=True)}, json=json, output=None)


def _write(simulated: "Simulated", output: Path, truth: Path | None, sources: Path | None) -> None:
    """Write the judgments of a campaign and, if requested, the truth and the source texts."""
    from adjudge.core.files import write_text
    from adjudge.formats import native
    from adjudge.report.output.formats import to_json

    native.write(simulated.judgments, output)
    if truth is not None:
        write_text(truth, to_json(simulated.truth.to_dict()) + "\n")
    if sources is not None:
        write_text(sources, "\n".join(simulated.sources) + "\n")


def _numbered(file: Path, number: int, of: int) -> Path:
    """The file of one of several campaigns: `judgments-07.parquet` is the seventh of up to 99."""
    return file if of == 1 else file.with_stem(f"{file.stem}-{number:0{len(str(of))}d}")


def _campaign(
    protocol: str, systems: int, spread: float | None, qualities: str | None, given: dict[str, Any]
) -> "RankingCampaign | ScoreCampaign":
    from adjudge.core.errors import unknown_choice
    from adjudge.simulate import RankingCampaign, ScoreCampaign

    if protocol not in SIMULATED:
        raise unknown_choice("protocol", protocol, SIMULATED)
    known = _numbers(qualities)
    given["systems"] = systems if known is None else len(known)
    if spread is not None:
        given["spread"] = spread
    if protocol == "ranking":
        return RankingCampaign(qualities=known, **given)
    return ScoreCampaign(qualities=known, **given)


def _numbers(text: str | None) -> tuple[float, ...] | None:
    from adjudge.core.errors import UsageError

    if text is None:
        return None
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError as fault:
        raise UsageError(f"--qualities '{text}' is not a list of numbers; write them as 0.5,0,-0.5") from fault
