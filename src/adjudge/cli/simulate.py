"""`adjudge simulate`: judgments with known truth."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write: .parquet or .csv.")],
    truth: Annotated[Path | None, typer.Option(help="Write the truth behind the judgments to this JSON file.")] = None,
    sources: Annotated[Path | None, typer.Option(help="Write a source text for every segment to this file.")] = None,
    protocol: Annotated[str, typer.Option(help="How is judged: ranking.")] = "ranking",
    systems: Annotated[int, typer.Option(help="Machine systems.")] = 8,
    annotators: Annotated[int, typer.Option(help="Annotators.")] = 20,
    blocks: Annotated[int, typer.Option(help="ranking: screens judged in all.")] = 600,
    block_size: Annotated[int, typer.Option(help="ranking: systems on a screen.")] = 5,
    documents: Annotated[int, typer.Option(help="Documents.")] = 20,
    segments: Annotated[int, typer.Option(help="Segments of each document.")] = 10,
    spread: Annotated[float, typer.Option(help="Standard deviation of the systems' qualities.")] = 1.0,
    abilities: Annotated[
        str | None, typer.Option(help="The systems' qualities themselves (log-odds), joined by commas.")
    ] = None,
    ties: Annotated[float, typer.Option(help="ranking: how readily equals tie (Davidson's nu).")] = 0.5,
    reference: Annotated[float, typer.Option(help="Share of the screens that hold the human reference.")] = 0.2,
    uneven: Annotated[
        float, typer.Option(help="ranking: how strongly systems of similar strength meet; 0 is not at all.")
    ] = 0.0,
    careless: Annotated[float, typer.Option(help="Share of the annotators who click at random.")] = 0.0,
    repeats: Annotated[float, typer.Option(help="Share of the work that the same annotator did before.")] = 0.05,
    overlap: Annotated[float, typer.Option(help="ranking: share that another annotator judges, too.")] = 0.2,
    length_effect: Annotated[float, typer.Option(help="ranking: how much harder long source texts are.")] = 0.0,
    blanks: Annotated[float, typer.Option(help="ranking: share of the labels left blank.")] = 0.0,
    pair: Annotated[str, typer.Option("--pair", "-p", help="The language pair to write into the table.")] = "src-tgt",
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
) -> None:
    """Draw judgments from a known truth, to try methods and designs before people are paid.

    Example: adjudge simulate -o judgments.parquet --truth truth.json --systems 12 --uneven 1 --careless 0.1
    """
    from adjudge.cli.shared import put_out
    from adjudge.core.errors import unknown_choice
    from adjudge.core.files import write_text
    from adjudge.formats import native
    from adjudge.report.machine import to_json
    from adjudge.simulate import RankingCampaign
    from adjudge.simulate import simulate as draw

    if protocol != "ranking":
        raise unknown_choice("protocol", protocol, ("ranking",))
    given = _numbers(abilities)
    campaign = RankingCampaign(
        systems=systems if given is None else len(given),
        annotators=annotators,
        blocks=blocks,
        block_size=block_size,
        documents=documents,
        segments=segments,
        spread=spread,
        abilities=given,
        ties=ties,
        reference=reference,
        uneven=uneven,
        careless=careless,
        repeats=repeats,
        overlap=overlap,
        length_effect=length_effect,
        blanks=blanks,
        pair=pair,
    )
    simulated = draw(campaign, seed=seed)
    native.write(simulated.judgments, output)
    if truth is not None:
        write_text(truth, to_json(simulated.truth.to_dict()) + "\n")
    if sources is not None:
        write_text(sources, "\n".join(simulated.sources) + "\n")
    put_out({pair: simulated.truth}, json=json, output=None)


def _numbers(text: str | None) -> tuple[float, ...] | None:
    from adjudge.core.errors import UsageError

    if text is None:
        return None
    try:
        return tuple(float(one) for one in text.split(","))
    except ValueError as fault:
        raise UsageError(f"--abilities '{text}' is not a list of numbers; write them as 0.5,0,-0.5") from fault
