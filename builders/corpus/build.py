"""From a topic file to a folder with its corpus, what was left out, and how it was made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.chunking import pdf
from builders.corpus.scanning import secrets_in
from builders.corpus.settings import Settings
from builders.corpus.sources import Source, sources_of
from builders.corpus.table import Tally, write_table
from builders.corpus.work import CRASH, Batch, Cutting, Listing, batches, pdfs_in
from builders.outputs import write_about
from builders.repositories import REASONS, fetch
from builders.secrets import Allowed, review
from builders.stages import Cluster, run
from builders.stages.workshop import result, workshop
from builders.topics import Topic
from freshstack_datasets.errors import InputError
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.recipe import Filter, Recipe, Tool
from freshstack_datasets.recipe import Source as Told

FILE = "corpus.json"
_OURS = "parts-of-a-corpus"
_REPEATED = "repeated ids"
_MEANT = REASONS | {
    "empty": "no content, or nothing but white space",
    "encoding": "no encoding makes text of it",
    "notebook": "a notebook that cannot be read",
    "pdf": "a PDF that cannot be read",
    "scanned": "a PDF without text",
    pdf.MISSING: "a PDF, and no package to read it",
    "timeout": "it took too long",
    CRASH: "a library ended on it, or hung",
    _REPEATED: "the compatible mode gives two pieces of a file one id; the first was kept",
}


@dataclass(frozen=True, slots=True)
class Built:
    """What was made.

    Args:
        path: The folder.
        digest: The digest of the table, which depends on nothing but its rows.
        counts: How many documents, files and so on.
        dropped: From a reason to how many files were left out for it.
    """

    path: Path
    digest: str
    counts: dict[str, int]
    dropped: dict[str, int]


def build(
    topic: Topic,
    out: Path,
    *,
    sources: Path | None = None,
    settings: Settings | None = None,
    processes: int = 1,
    cluster: Cluster | None = None,
    allowed: Allowed | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Built:
    """Make the corpus of a topic.

    Meanwhile parts are kept beside the folder, in one of the same name with ``.parts`` behind it. The same call, made
    again after any end, goes on from them, and with the repositories as they were.

    Files are read in other processes, even for one, since a library may crash on them. These begin by importing the
    script that asked for them, which therefore has to do so below ``if __name__ == "__main__":``.

    Args:
        topic: The topic.
        out: A new folder.
        sources: A folder that ``fetch`` filled; without it, the repositories are fetched first.
        settings: How files are cut.
        processes: How many processes work; the result is the same for any number.
        cluster: Who lists and cuts instead, with the same result; fetching and the end of the work stay here.
        allowed: Findings of secrets that are accepted. In the compatible mode, whose sources are public, nobody looks.
        say: Takes a line for people.

    Raises:
        InputError: Something cannot be read, or two files give documents of one id.
        SecretsError: Something seems to be secret, and is not allowed.
        SnapshotError: There is no document.
    """
    settings = settings or Settings()
    out = out.absolute()
    refuse_taken(out)
    with workshop(out, _OURS) as work:
        bundles = sources or work / "sources"
        if sources is None and topic.repositories:
            fetch(topic.repositories, bundles, say=say)
        found = sources_of(topic, bundles)
        lists = run(Listing(), found, work, processes=processes, cluster=cluster, what="listing")
        pdfs = 0 if settings.like else sum(map(pdfs_in, found, lists))
        if pdfs and pdf.reader() is None:
            say(f"warning: {pdfs:,} PDFs are left out; to read them: {pdf.how_to_install()}")
        shards = [shard for source, files in zip(found, lists, strict=True) for shard in batches(source, files)]
        parts = run(Cutting(settings), shards, work, processes=processes, cluster=cluster, what="chunking")
        parameters = {}
        if not settings.like:
            secrets = secrets_in(parts, work, processes=processes, cluster=cluster)
            parameters = review(secrets, allowed or Allowed(), out).parameters()
        if [source.digest for source in sources_of(topic, bundles)] != [source.digest for source in found]:
            raise InputError("documents changed while they were read", hint="run the same command again")
        with result(work, out) as folder:
            tool = settings.tool(*([pdf.PACKAGE] if pdfs and pdf.reader() else []))
            built = _written(folder, topic, settings, tool, parameters, found, list(zip(shards, parts, strict=True)))
    return Built(out, *built)


def _written(
    folder: Path,
    topic: Topic,
    settings: Settings,
    tool: Tool,
    parameters: dict[str, Any],
    sources: Sequence[Source],
    parts: Sequence[tuple[Batch, Path]],
) -> tuple[str, dict[str, int], dict[str, int]]:
    """Write table, list of what was left out and description; return what ``Built`` says of them."""
    tally = Tally()
    table = write_table(folder, parts, tally)
    per_source = [tally.of(source) for source in sources]
    totals = {name: sum(counts[name] for counts in per_source) for name in per_source[0]}
    dropped = dict(sorted(tally.reasons.items()))
    filters = dropped | ({_REPEATED: tally.repeated} if tally.repeated else {})
    recipe = Recipe(
        builder="corpus",
        parameters=parameters,
        topic_sha256=topic.digest,
        chunker=tool,
        tokenizer=settings.tokenizer(),
        filters=tuple(Filter(name=n, dropped=count, reason=_MEANT.get(n, "")) for n, count in filters.items()),
    )
    told = [
        Told(
            url=source.address,
            name=source.name,
            commit=source.commit,
            date=source.date or None,
            sha256=None if source.commit else source.digest.removeprefix("sha256:"),
            license=source.told.license,
            counts=counts,
        )
        for source, counts in zip(sources, per_source, strict=True)
    ]
    write_about(folder / FILE, topic.name, told, recipe, table, totals)
    return table["digest"], totals, dropped
