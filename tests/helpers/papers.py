"""A made-up paper with a figure of every kind, and cells of every state."""

from __future__ import annotations

from adjudge.papers.figures import (
    Bar,
    Bars,
    Curve,
    CurveAt,
    Curves,
    FittedLine,
    Mark,
    Matrix,
    PlacesOfSystems,
    RankingColumn,
    Scatter,
    ScatterPoint,
    TournamentOrder,
    ViolatedLead,
)
from adjudge.papers.replicate import NotRecomputed, ReplicatedCell, ReplicatedTable, Replication, Source

SYSTEMS = tuple(f"system-{letter}" for letter in "abcdefgh")


def replication(evil: str = "") -> Replication:
    """The result; `evil` is added to names."""
    names = tuple(f"{name}{evil}" for name in SYSTEMS)
    crowded = tuple(
        ScatterPoint(name, "en-cs", 100 + 3.0 * (i % 3), 50 + 2.0 * (i // 3)) for i, name in enumerate(names)
    )
    cells = (
        ReplicatedCell("a", 1.0, 0, 1.0),
        ReplicatedCell("b", 2.0, 0, 3.0, f"a misprint{evil}"),
        ReplicatedCell("c", 2.0, 0, None, "never published", released=False),
        ReplicatedCell("d", 2.0, 0, 5.0, "another year", comparable=False),
    )
    curve = tuple(CurveAt(float(x), x / 10, x / 20, x / 8) for x in range(1, 8))
    figures = (
        Scatter(figure="Figure 1", title=f"Points{evil}", page=3, says="Eight points.", x="times", y="score",
                points=crowded, line=FittedLine(0.5, 1.0, 0.4)),
        Curves(figure="Figure 2", title="Lines", says="Two lines.", x="n", y="r", note="A note.",
               curves=(Curve(f"first{evil}", curve), Curve("second", curve[:4])),
               marks=(Mark("limit", "y", 0.4), Mark("chosen", "x", 3.0))),
        Curves(figure="Figure 3", title="Shares", says="Shares.", x="divisor", y="share", ordinal=True, share=True,
               curves=(Curve("rank", curve, "without"), Curve("rank", curve, "with"))),
        PlacesOfSystems(figure="Figure 4", title="Places", says="They move.", basis="other data", rankings=(
            RankingColumn("orig", names, (names[:3], names[3:])),
            RankingColumn("d-2", (names[1], names[0], *names[2:]), (names[:2], names[2:])),
            RankingColumn("without the best", names[1:], (names[1:],)),
        )),
        Matrix(figure="Figure 5", title="Tasks", says="Who met whom.", rows=names, columns=names, what="tasks",
               cells=tuple(tuple(float(i * j) for j in range(8)) for i in range(8))),
        Matrix(figure="Figure 6", title="Documents", says="Documents.", rows=("d1", "d2"), columns=names, what="mean",
               cells=(tuple(60.0 + i for i in range(8)), (None, *(50.0 + i for i in range(7)))), middle=60.0),
        Bars(figure="Figure 7", title="Bars", says="They fall.", x="judgments (%)", decimals=1, bars=tuple(
            Bar(panel, row, series, value)
            for panel in (f"MT_Y{evil}", "MT_Z") for row in ("better", "tie")
            for series, value in (("before", 40.0), ("after", 35.5))
        )),
        TournamentOrder(figure="Table 3", title="Order", says="Two leads point upward.", order=names,
                        leads=(ViolatedLead(names[3], names[0], 6.0), ViolatedLead(names[7], names[6], 1.0))),
    )  # fmt: skip
    return Replication(
        settings={"paper": "made-up"}, data="0", paper=f"A. Nobody (2000): A made-up paper{evil}",
        replicated=(
            ReplicatedTable("Table 1", "A table", 2, cells),
            ReplicatedTable("x-y", "official", None, cells[:1] * 20, Source.ORGANISERS, "a folder"),
        ),
        figures=figures,
        not_recomputed=(NotRecomputed("Figure 8", "it shows a text"),),
    )  # fmt: skip
