"""What the paper of FreshStack published of its five topics, beside what this package counts and scores on them.

    python -m benchmarks.reproduce [TOPIC …]

Loads the release of October 2024 from the Hugging Face Hub, which takes some 300 MB and a while the first time, and
prints a table of ours, published and difference for each topic: the means of BM25 searching with the questions, and
the statistics. BM25 has the parameters of the paper's (k1 0.9, b 0.4), but takes words apart in another way, so that
near scores can be expected, and not the same ones.

Published scores are in ``published/bm25.csv``, published statistics in the catalog of the package; each names its
source. How many questions and answers hold code is not counted, since the texts carry no mark of it.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from builders.statistics.tokens import count
from freshstack_datasets import BM25, Dataset, FreshStackError, evaluate, load
from freshstack_datasets.catalog import known
from freshstack_datasets.retrieval import indexed

SNAPSHOT = "2024-10"
DEPTH = 100
PUBLISHED = Path(__file__).parent / "published" / "bm25.csv"


@dataclass(frozen=True)
class Figure:
    """One figure, ours and the published one.

    Args:
        name: What it is of.
        ours: What was found.
        published: What was published, with the digits that it has there.
    """

    name: str
    ours: float
    published: Decimal

    @property
    def digits(self) -> int:
        """How many decimals were published."""
        exponent = self.published.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0

    @property
    def same(self) -> bool:
        """Whether ours, rounded as the published one, is the same."""
        return round(Decimal(self.ours), self.digits) == self.published


def figures(data: Dataset, topic: str, published: Mapping[tuple[str, str], Decimal]) -> Iterator[Figure]:
    """Yield all figures of a topic.

    Args:
        data: Its snapshot.
        topic: Its name.
        published: The published scores by topic and measure.
    """
    measures = [measure for of, measure in published if of == topic]
    run = indexed(BM25(), data).search(data.queries, k=DEPTH)
    found = evaluate(run, data, measures, intervals=False)
    for measure in measures:
        yield Figure(f"BM25, {measure}", found.mean[measure], published[topic, measure])
    entry = known()[data.name].snapshots[SNAPSHOT]
    assert entry.figures, "the catalog has them for these topics"
    for name, (value, told) in {
        "questions": (len(data.queries), entry.queries),
        "documents": (len(data.corpus), entry.documents),
        "nuggets a question": (len(data.nuggets) / len(data.queries), entry.nuggets_per_query),
        "tokens of a question": (_mean_tokens(data, "text"), entry.figures.query_tokens),
        "tokens of an answer": (_mean_tokens(data, "answer_text"), entry.figures.answer_tokens),
        "relevant documents a nugget": (_supports(data) / len(data.nuggets), entry.figures.relevant_per_nugget),
        "relevant documents a question": (_relevant(data) / len(data.queries), entry.figures.relevant_per_query),
    }.items():
        yield Figure(name, value, Decimal(str(told)))


def _mean_tokens(data: Dataset, field: str) -> float:
    (texts,) = data.queries.columns(field)
    there = [text for text in texts if text is not None]
    return sum(map(count, there)) / len(there)


def _supports(data: Dataset) -> int:
    (scores,) = data.judgments.columns("score")
    return sum(scores)


def _relevant(data: Dataset) -> int:
    return sum(score > 0 for documents in data.qrels.values() for score in documents.values())


def published_scores() -> dict[tuple[str, str], Decimal]:
    """Return the published scores by topic and measure."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {(row["topic"], row["measure"]): Decimal(row["value"]) for row in csv.DictReader(file)}


def report(topic: str, found: Sequence[Figure]) -> None:
    """Print the table of a topic."""
    print(f"\n{topic:32}{'ours':>12}{'published':>12}{'difference':>12}")
    for one in found:
        places = one.digits + bool(one.digits)  # one more than published; counts have none
        difference = "same" if one.same else f"{one.ours - float(one.published):+,.{places}f}"
        print(f"  {one.name:30}{one.ours:>12,.{places}f}{one.published:>12,}{difference:>12}")


def main() -> int:
    """Print the tables of some topics, or of all."""
    scores = published_scores()
    topics = list(dict.fromkeys(topic for topic, _ in scores))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(topics)}; all when not given")
    chosen = parser.parse_args().topics or topics
    if unknown := [topic for topic in chosen if topic not in topics]:
        parser.error(f"unknown topic {unknown[0]!r}, expected {', '.join(topics)}")
    all_found: list[Figure] = []
    for topic in chosen:
        print(f"{topic}: loading, searching, counting", file=sys.stderr)
        try:
            found = list(figures(load(f"freshstack/{topic}", SNAPSHOT), topic, scores))
        except FreshStackError as error:
            print(f"error: {error}\nThis compares with the release on the Hugging Face Hub.", file=sys.stderr)
            return 2
        report(topic, found)
        all_found += found
    print(
        f"\n{sum(one.same for one in all_found)} of {len(all_found)} figures are the same as far as they were published"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
