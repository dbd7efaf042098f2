"""Commands that look into the texts of a dataset: show, search."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.inputs import DatasetName, Depth, heading, identity, open_dataset, read_runs, retriever_for

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run


def show(
    dataset: DatasetName,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The id of a query.")],
    doc: Annotated[
        str | None, typer.Argument(metavar="DOC", help="The id of a document, to tell where its judgment came from.")
    ] = None,
    run: Annotated[Path | None, typer.Option("--run", metavar="FILE", help="A run to look the nuggets up in.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Show a question, its answer and its nuggets.

    Says which documents support each nugget, and at which rank a run covers it first.

    With a document, says how that was judged instead: for each nugget whether it is supported, the call of a model that
    says so, with its model, prompt, parameters and tokens, and what it says of the document; and which searches brought
    the document before the judge. That is known of snapshots whose build published its trace.
    """
    from freshstack_datasets.cli.describe import one_query

    data = open_dataset(dataset)
    if doc is not None:
        _show_judgment(data, query, doc, read_runs([run])[0] if run else None, as_json)
        return
    facts = one_query(data, query, read_runs([run])[0] if run else None)
    if as_json:
        console.say_json(facts)
        return
    console.say(f"{heading(data)}\n")
    console.say(_question(facts["query"], facts["answer"]))
    for number, nugget in enumerate(facts["nuggets"], 1):
        importance = f" ({nugget['importance']})" if nugget["importance"] else ""
        console.say(f"\nnugget {number}{importance}: {nugget['text']}")
        for document in nugget["documents"]:
            rank = f", rank {document['rank']}" if document["rank"] else ""
            title = f": {console.one_line(document['title'], 100)}" if document["title"] else ""
            console.say(f"  supported by document {document['doc_id']}{rank}{title}")
        if run:
            first = nugget["first_rank"]
            place = f"first covered at rank {first}" if first else f"not covered in {facts['ranked']} documents"
            console.say(f"  {facts['run']}: {place}")


def _show_judgment(data: "Dataset", query: str, doc: str, run: "Run | None", as_json: bool) -> None:
    from freshstack_datasets.cli.tracing import lines, one_judgment

    facts = one_judgment(data, query, doc, run)
    if as_json:
        console.say_json(facts)
        return
    console.say(f"{heading(data)}\n")
    for line in lines(facts):
        console.say(line)
    if facts["pool"]:
        console.say("\nbrought before the judge by:")
        columns = ("searched for", "retriever", "rank")
        rows = [(place["technique"], place["retriever"], place["rank"]) for place in facts["pool"]]
        console.say_table(columns, rows, right=("rank",))


def search(
    dataset: DatasetName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to search for.")],
    k: Depth = 10,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Search the corpus with BM25."""
    from freshstack_datasets.cli.describe import CREDIT
    from freshstack_datasets.records import Query

    data = open_dataset(dataset)
    found = retriever_for("bm25", data).search([Query("search", text)], k)["search"]
    results = []
    for rank, (document, score) in enumerate(zip(data.corpus.get_many(list(found)), found.values(), strict=True), 1):
        credit = {name: document.metadata.get(name) for name in CREDIT}
        facts = {"rank": rank, "doc_id": document.doc_id, "score": score, "title": document.title}
        results.append({**facts, **credit, "text": document.text})
    if as_json:
        console.say_json({**identity(data), "text": text, "results": results})
        return
    if not results:
        console.say(f"{heading(data)}\n\nno document shares a search term with this text; stop words are none")
        return
    console.say(f"{heading(data)}\n")
    rows = [(r["rank"], r["doc_id"], f"{r['score']:.2f}", _beginning(r), r["url"] or "") for r in results]
    console.say_table(("rank", "document", "score", "beginning", "url"), rows, right=("rank", "score"))


def _question(query: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return a question and its accepted answer, with the attribution that their licence asks for."""
    title = f": {query['title']}" if query["title"] else ""
    kinds = ", ".join(f"{name} {query[name]}" for name in ("type", "difficulty", "language") if query[name])
    lines = [f"question {query['query_id']}{title}", *([kinds] if kinds else []), *_credit(query)]
    body = query["body"] or ("" if title else query["text"])
    lines += ["", body] if body else []
    if query["answer_text"]:
        credit = _credit(answer)
        lines += ["", f"answer {query['answer_id'] or ''}".rstrip() + ":", *credit, *([""] if credit else [])]
        lines.append(query["answer_text"])
    return "\n".join(lines)


def _credit(post: Mapping[str, Any]) -> list[str]:
    """Return the line that says whose text it is; no line when nothing is known."""
    from freshstack_datasets.cli.describe import CREDIT

    known = ", ".join(str(post[name]) for name in CREDIT if post[name])
    return [known] if known else []


def _beginning(result: Mapping[str, Any]) -> str:
    return console.one_line(f"{result['title']} {result['text']}", 60)
