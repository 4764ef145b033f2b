"""How the topics of a test set compare with those of a reference corpus."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.results.table import Table, number, p_value, percent, text


@dataclass(frozen=True)
class Topic:
    """A group of documents that use the same words."""

    label: str
    terms: tuple[str, ...]
    share_test: float
    share_reference: float


@dataclass(frozen=True)
class NearPair:
    """Two documents of the test set that may report the same event."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class Topics:
    """The test of the mix of topics (energy distance, documents permuted), the topics to look at, and near pairs."""

    documents_test: int
    documents_reference: int
    energy_distance: float
    p: float
    permutations: int
    embeddings: str
    """What made documents into points: `words`, or the name of a model."""
    topics: tuple[Topic, ...]
    near_pairs: tuple[NearPair, ...]

    def tables(self) -> tuple[Table, ...]:
        """The test, the topics, and the near pairs where there are any."""
        test = Table(
            "Topics against the reference corpus",
            (number("documents", 0), number("in the corpus", 0), number("energy distance", 4), p_value("p")),
            ((self.documents_test, self.documents_reference, self.energy_distance, self.p),),
            f"p by {self.permutations:,} permutations of documents: small where the mix of topics differs. "
            f"Documents are compared by {self.embeddings}.",
        )
        shown = Table(
            "Topics",
            (text("topic"), percent("test set"), percent("corpus"), text("words")),
            tuple((one.label, one.share_test, one.share_reference, ", ".join(one.terms)) for one in self.topics),
            "Groups to look at; where their borders run is partly chance, so no test is made on them.",
        )
        rows = tuple(
            (one.first, one.second, one.similarity, one.first_text, one.second_text) for one in self.near_pairs
        )
        columns = (text("document"), text("document"), number("similarity", 2), text("starts"), text("starts"))
        pairs = Table("Documents that may report the same event", columns, rows)
        return (test, shown, pairs) if rows else (test, shown)
