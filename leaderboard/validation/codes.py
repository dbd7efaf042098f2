"""The codes of findings. A code keeps its meaning for ever; one that is no longer used is not given to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

FILE = Path(__file__).parents[1] / "CODES.md"
"""The page that explains all codes."""

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding.

    Args:
        code: A letter and three digits: ``E312``.
        name: The same in words: ``duplicate-document``.
        meaning: What is wrong.
        fix: How it is put right, where a finding does not say it better.
    """

    code: str
    name: str
    meaning: str
    fix: str

    @property
    def severity(self) -> Severity:
        """Whether it keeps a submission out."""
        return "error" if self.code[0] == "E" else "warning"


GROUPS: Mapping[str, str] = {
    "1": "The folder",
    "2": "submission.yaml",
    "3": "A run file by itself",
    "4": "A run on its dataset and beside other runs",
    "5": "A pull request",
}
"""What the codes of a hundred are about, by their first digit."""

_CODES = (
    Code("E101", "no-such-place", "what was named is not there, or neither a submission nor a run file",
         "name a submission's folder, or run files with --board"),
    Code("E102", "folder-name", "the folder is not called or not placed as it has to be",
         "call it <board>/<snapshot>/<yyyymmdd>-<team>-<system>, of small letters, digits, dots and hyphens"),
    Code("E103", "unknown-board", "there is no such board, or it cannot be read", "put it into the folder of a board"),
    Code("E104", "computed-file", "scores are computed by the maintainers, and never handed in", "delete the file"),
    Code("E105", "odd-file", "a file that is none of a submission's", "delete it"),
    Code("E106", "no-plain-file", "a link, a folder, a device or anything else that is no plain file",
         "put the file itself there"),
    Code("E107", "too-many-bytes", "a file, or all of them together, is too large",
         "hand in the best 100 documents of each query, gzipped"),
    Code("E108", "no-run", "there is no run file", "put one run file a topic beside submission.yaml"),
    Code("E109", "several-runs", "a topic has several run files", "keep one of them"),
    Code("E110", "unknown-topic", "a run file is named after no topic of the board", "rename it after its topic"),
    Code("W111", "missing-topic", "a topic of the board has no run, so that the submission gets no macro average",
         "add its run, or hand in less and be shown as incomplete"),
    Code("E201", "no-metadata", "there is no submission.yaml", "python -m leaderboard new writes one"),
    Code("E202", "unreadable-metadata", "it is no YAML, or more of it than is read", "write plain keys and values"),
    Code("E203", "metadata-value", "a value is not allowed", "see leaderboard/submission.schema.json"),
    Code("E204", "unknown-key", "a key is not known", "see leaderboard/submission.schema.json"),
    Code("E205", "missing-key", "a key is missing", "add it"),
    Code("E206", "placeholder", "a value of the template was left as it is", "write what is true of your system"),
    Code("E207", "undeclared-oracle", "it searched with answers or nuggets, and says that it did not",
         "say setting: oracle; oracles are lines of reference and have no rank"),
    Code("E208", "other-date", "the folder is of another day than submission.yaml", "let both say the same day"),
    Code("W209", "unknown-size", "the number of a model's parameters is not given, so that no chart of sizes shows it",
         "give it where it is known"),
    Code("W210", "unknown-license", "a model's licence is not given", "give it by SPDX where there is one"),
    Code("W211", "unknown-training", "nobody knows what the models were trained on", "say yes or no where it is known"),
    Code("E301", "unreadable-run", "a run file cannot be opened or read", "copy the file again"),
    Code("E302", "damaged-compression", "a compressed file is damaged", "copy the file again"),
    Code("E303", "too-much-inside", "a file holds more than it may: bytes once it is decompressed, entries, or ids",
         "hand in the best 100 documents of each query"),
    Code("E304", "encoding", "a run file holds bytes that are no UTF-8, NUL, or a carriage return within a line",
         "save it as UTF-8"),
    Code("E305", "long-line", "a line is too long to be an entry", "write an entry a line"),
    Code("E306", "empty-line", "an empty line stands before others", "delete it"),
    Code("E307", "fields", "a line has another number of fields than an entry",
         "write query-id, Q0, doc-id, rank, score and tag, separated by tabs"),
    Code("E308", "rank", "a rank is no whole number", "write 1, 2, 3 … for each query"),
    Code("E309", "score", "a score is no number", "write a number such as 12.5"),
    Code("E310", "not-finite", "a score is NaN or infinite", "leave the document out, or give it a finite score"),
    Code("E311", "bad-id", "an id is empty, too long, or holds what an id must not",
         "write ids as the dataset has them"),
    Code("E312", "duplicate-document", "a document comes twice for a query", "keep the one with the better score"),
    Code("E313", "several-tags", "a run file has several tags, as if it were of several systems",
         "write the same tag on every line"),
    Code("E314", "json", "it is no JSON, or JSON of another shape", "write it with freshstack_datasets.write_run"),
    Code("E315", "parquet", "it is no Parquet file, or one of other columns",
         "write it with freshstack_datasets.write_run"),
    Code("E316", "empty-run", "a run file holds no entry", "put the run there, or delete the file"),
    Code("E317", "too-many-faults", "the file has more faults than are looked at", "mend the first ones"),
    Code("E318", "run-content", "a run file holds something else that is not allowed", "write the run again"),
    Code("W319", "ranks", "ranks are not 1, 2, 3 … by falling score; scores alone count", "write ranks by falling score"),
    Code("W320", "unsorted", "a file is not sorted by query and falling score; scores alone count",
         "sort it, so that people can read it"),
    Code("E401", "unknown-query", "the dataset has no such query", "leave it out, or take the run of this dataset"),
    Code("E402", "unknown-document", "the dataset has no such document", "write ids as the dataset has them"),
    Code("E403", "many-missing-queries", "the run lacks more queries of the dataset than may be missing",
         "search for all queries; one that finds nothing may be missing"),
    Code("E404", "other-fingerprint", "the dataset at hand is not the one that the board is made for",
         "take the board's snapshot"),
    Code("E405", "identical-run", "the very same run was handed in before, in this file or another",
         "hand in the run of your own system; where submission.yaml of one that was taken says something wrong, "
         "open an issue that says what is true, and maintainers put it right"),
    Code("E406", "no-dataset", "the dataset is not at hand, so that nothing could be compared with it",
         "freshstack download it"),
    Code("W407", "missing-queries", "queries of the dataset are missing, and score 0", "search for them"),
    Code("W408", "many-documents", "queries have more than 1,000 documents; no measure looks so far down",
         "keep the best 1,000 or fewer"),
    Code("W409", "few-documents", "many queries have fewer documents than a measure of the board looks at",
         "search deeper"),
    Code("W410", "ties", "documents have the same score; the one with the larger id counts as the better",
         "write scores with all their digits"),
    Code("W411", "equal-scores", "all documents of queries have the same score", "write the scores of the ranking"),
    Code("W412", "few-judged", "few of the first ten documents were ever judged, so that scores say little",
         "make sure that larger scores are better, as distances are not; look at the scores on judged documents alone"),
    Code("W413", "above-oracle", "the run is better than systems that saw the answers",
         "make sure that answers, nuggets and judgments were not searched with nor trained on"),
    Code("W414", "near-identical", "the run ranks nearly the same documents first as another one",
         "say in the description how the two systems differ"),
    Code("E501", "foreign-change", "a pull request of a submission changes something else", "hand that in by itself"),
    Code("E502", "changes-submission", "a submission that was taken is changed or deleted",
         "hand in another run as a new one; where submission.yaml says something wrong, open an issue that says what is "
         "true, and maintainers put it right"),
    Code("E503", "no-submission", "a pull request adds no submission", "add a submission's folder"),
)  # fmt: skip

CODES: Mapping[str, Code] = {code.code: code for code in _CODES}
"""All codes, by themselves."""

OF_FAULT: Mapping[str, str] = {
    "unreadable": "E301",
    "compression": "E302",
    "large": "E303",
    "encoding": "E304",
    "long-line": "E305",
    "empty-line": "E306",
    "fields": "E307",
    "rank": "E308",
    "score": "E309",
    "not-finite": "E310",
    "id": "E311",
    "duplicate": "E312",
    "json": "E314",
    "parquet": "E315",
    "empty": "E316",
    "many": "E317",
    "content": "E318",
}
"""The code of each kind of fault that a run file can have: see ``freshstack_datasets.runs.notes.KINDS``."""


def table() -> str:
    """Return all codes as Markdown, a table a group."""
    parts: list[str] = []
    for digit, title in GROUPS.items():
        rows = [f"| {one.code} | {one.name} | {one.meaning} | {one.fix} |" for one in _CODES if one.code[1] == digit]
        rows = [row.replace("<", "\\<") for row in rows]  # else Markdown takes it for HTML
        parts.append("\n".join([f"## {title}", "", "| code | name | what it means | how to mend it |",
                                "|---|---|---|---|", *rows]))  # fmt: skip
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """Return the page that explains all codes."""
    return (
        "# What `python -m leaderboard validate` finds\n\n"
        "Codes with an E are errors, which keep a submission out; those with a W are warnings, for reading.\n"
        "A code keeps its meaning for ever. This page is written by `python -m leaderboard.validation`.\n\n"
        f"{table()}"
    )
