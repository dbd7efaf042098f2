"""What validate finds in run files, each with its code and its line."""

import gzip
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import load
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import read_run, write_run
from leaderboard.boards.definition import read_definition
from tests.leaderboard import made
from tests.leaderboard.validating import ENTRY, codes, copied, edit, found, report_of, retell

# A made run has 24 queries with 60 documents each, a line an entry: lines 1 to 60 are of the first query.


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    root = tmp_path_factory.mktemp("board")
    made.made_board(root)
    return root


@pytest.fixture
def folder(board, tmp_path):
    return copied(board, tmp_path)


def test_a_submission_that_nothing_is_wrong_with_has_no_finding(folder):
    report = report_of(folder)
    assert report.ok
    assert report.findings == ()
    assert report.checked == (str(folder),)


def change_line(number, place, value):
    def change(lines):
        lines[number - 1][place] = value

    return change


def twice(lines):
    lines[7][2] = lines[3][2]


def shorter(lines):
    del lines[4][5]


def without_a_query(lines):
    del lines[:60]


def without_three_queries(lines):
    del lines[:180]


def swapped(lines):
    lines[10], lines[11] = lines[11], lines[10]


def apart(lines):
    lines.append(lines.pop(0))


@pytest.mark.parametrize(
    "change, expected",
    [
        pytest.param(shorter, ("E307", 5), id="five fields"),
        pytest.param(change_line(9, 3, "first"), ("E308", 9), id="a rank in words"),
        pytest.param(change_line(9, 4, "high"), ("E309", 9), id="a score in words"),
        pytest.param(change_line(9, 4, "nan"), ("E310", 9), id="NaN"),
        pytest.param(change_line(9, 4, "1e999"), ("E310", 9), id="a score beyond any double"),
        pytest.param(change_line(9, 2, "x" * 10_001), ("E311", 9), id="an id that is too long"),
        pytest.param(change_line(9, 0, ""), ("E311", 9), id="an empty id"),
        pytest.param(twice, ("E312", 8), id="a document twice"),
        pytest.param(change_line(9, 5, "other"), ("E313", 9), id="two tags"),
        pytest.param(change_line(9, 3, "17"), ("W319", 9), id="a rank out of order"),
        pytest.param(swapped, ("W320", 12), id="a higher score behind a lower one"),
        pytest.param(apart, ("W320", 1440), id="a query that comes back"),
        pytest.param(change_line(9, 0, "70000001"), ("E401", 9), id="an unknown query"),
        pytest.param(change_line(9, 2, "nowhere.md"), ("E402", 9), id="an unknown document"),
        pytest.param(without_a_query, ("W407", 0), id="one of 24 queries missing"),
        pytest.param(without_three_queries, ("E403", 0), id="three of 24 queries missing"),
    ],
)
def test_a_spoiled_line_is_found_where_it_stands(folder, change, expected):
    edit(folder / "alpha.trec", change)
    report = report_of(folder)
    code, line = expected
    assert (code, "alpha.trec", line) in found(report)
    assert report.ok == code.startswith("W")
    assert {one.code for one in report.findings if one.severity == "error"} <= {code}
    assert {one.file for one in report.findings} == {str(folder / "alpha.trec")}


def test_each_of_several_faults_is_told_with_its_line(folder):
    def change(lines):
        lines[2][4] = "nan"
        lines[4][3] = "x"
        del lines[6][1]
        lines[8][2] = lines[0][2]  # the first line again

    edit(folder / "alpha.trec", change)
    errors = [one for one in found(report_of(folder)) if one[0].startswith("E")]
    assert errors == [
        ("E310", "alpha.trec", 3),
        ("E308", "alpha.trec", 5),
        ("E307", "alpha.trec", 7),
        ("E312", "alpha.trec", 9),
    ]


def test_a_million_faults_are_ten_findings_and_a_number(folder):
    edit(folder / "alpha.trec", lambda lines: [line.__setitem__(4, "nan") for line in lines])
    report = report_of(folder)
    assert [one.line for one in report.findings if one.code == "E310"] == list(range(1, 11))
    assert report.more[str(folder / "alpha.trec"), "E310"] == 24 * 60 - 10
    assert report.count("error") >= 24 * 60


def test_more_faults_than_are_looked_at_end_the_reading(tmp_path):
    (tmp_path / "alpha.trec").write_text("nonsense\n" * 1_000_000)
    report = report_of(tmp_path / "alpha.trec")
    assert ("E317", "alpha.trec", 100_001) in found(report)
    assert report.count("error") < 110_000


def test_a_document_that_is_nearly_one_of_the_corpus_gets_it_for_a_hint(folder):
    edit(folder / "alpha.trec", change_line(3, 2, "alpha/docs/page_007.md_0_2049"))
    (finding,) = (one for one in report_of(folder).findings if one.code == "E402")
    assert "'alpha/docs/page_007.md_0_2048'" in finding.fix


def test_an_id_in_other_capitals_gets_the_one_of_the_dataset_for_a_hint(folder):
    path = folder / "alpha.trec"
    doc_id = path.read_text(encoding="utf-8").split("\t")[2]
    edit(path, change_line(1, 2, doc_id.upper()))
    (finding,) = (one for one in report_of(folder).findings if one.code == "E402")
    assert finding.fix.startswith(f"did you mean '{doc_id}'")


def test_ids_with_spaces_are_read_from_lines_that_are_separated_by_spaces(folder):
    path = folder / "alpha.trec"
    path.write_text(path.read_text().replace("\t", " "))
    assert "alpha/docs/page 10#part" in path.read_text()
    assert report_of(folder).findings == ()


@pytest.mark.parametrize("suffix", [".run", ".txt.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_a_good_run_of_any_format_has_no_finding(folder, suffix):
    run = read_run(folder / "alpha.trec")
    (folder / "alpha.trec").unlink()
    write_run(run, folder / f"alpha{suffix}")
    assert report_of(folder).findings == ()


def test_json_lines_are_read_on_after_a_fault(folder):
    run = read_run(folder / "alpha.trec")
    (folder / "alpha.trec").unlink()
    path = folder / "alpha.jsonl"
    write_run(run, path)
    lines = path.read_text().splitlines()
    lines[1] = "{"
    lines[3] = json.dumps({"query_id": "q", "doc_id": "d"})
    lines[5] = json.dumps({"query_id": 7, "doc_id": "d", "score": 1.0})
    lines[7] = json.dumps({"query_id": "q", "doc_id": "d", "score": "high"})
    path.write_text("\n".join(lines) + "\n")
    errors = [one for one in found(report_of(folder)) if one[0].startswith("E3")]
    assert errors == [
        (code, "alpha.jsonl", line) for code, line in zip(("E314", "E307", "E311", "E309"), (2, 4, 6, 8), strict=True)
    ]


@pytest.mark.parametrize(
    "name, content, code",
    [
        ("alpha.trec", b"", "E316"),
        ("alpha.trec", b"a\tQ0\td\t1\t1.0\tt\n\xff\xfe\tQ0\td\t1\t1.0\tt\n", "E304"),
        ("alpha.trec", b"a\tQ0\td\x00\t1\t1.0\tt\n", "E304"),
        ("alpha.trec", b"a\tQ0\td\t1\t1.0\tt\n\nb\tQ0\td\t1\t1.0\tt\n", "E306"),
        ("alpha.trec", b"x" * 3_000_000, "E305"),
        ("alpha.trec.gz", b"no gzip at all", "E302"),
        ("alpha.trec.gz", gzip.compress(b"a\tQ0\td\t1\t1.0\tt\n", mtime=0)[:-9], "E302"),
        ("alpha.json", b"[1, 2]", "E314"),
        ("alpha.json", b'{"a": {"d": 1e999}}', "E310"),
        ("alpha.json", b'{"a": {"d": 1, "d": 2}}', "E312"),
        ("alpha.parquet", b"PAR1", "E315"),
    ],
)
def test_what_is_no_run_at_all_is_told_by_its_kind(folder, name, content, code):
    (folder / "alpha.trec").unlink()
    (folder / name).write_bytes(content)
    assert code in codes(report_of(folder))


def test_a_parquet_file_without_a_column_is_told_so(folder):
    (folder / "alpha.trec").unlink()
    pq.write_table(pa.table({"query_id": ["a"], "doc_id": ["d"]}), folder / "alpha.parquet")
    assert "E315" in codes(report_of(folder))


def test_more_than_a_thousand_documents_of_a_query_are_a_warning(tmp_path):
    data = load(made.made_dataset(tmp_path / "datasets", queries=2))
    folder = _board_of(tmp_path, data)
    first, second = data.qrels
    run = {first: {f"d{number}": float(-number) for number in range(1_001)}, second: {"d": 1.0}}
    write_run(Run.from_dict(run), folder / "alpha.trec")
    told = next(one for one in report_of(folder).findings if one.code == "W408")
    assert (told.line, told.got, told.expected) == (1, "1,001 documents", "at most 1,000")


def _board_of(root, data):
    """Write a board of one topic and a submission without runs, and return its folder."""
    folder = made.made_submission(root / "submissions", "made", "2026-10", ENTRY, {})
    topic = f"{{name: alpha, title: Alpha, dataset: {data.path}, fingerprint: null}}"
    text = f"title: Made\nabout: Made up.\nmeasures: [Recall@50]\nbaseline: null\ntopics: [{topic}]\n"
    (folder.parent / "board.yaml").write_text(text)
    return folder


def test_few_documents_are_a_warning_where_more_than_a_tenth_of_the_queries_have_so_few(folder):
    def change(lines):
        lines[:] = [line for line in lines if int(line[3]) <= 49 or line[0] in {lines[0][0], lines[60][0]}]

    edit(folder / "alpha.trec", change)  # 22 of 24 queries lack the 50th document
    (told,) = (one for one in report_of(folder).findings if one.code == "W409")
    assert told.got == "49 documents"
    assert told.expected == "at least 50, which Recall@50 looks at"
    assert told.what.startswith("22 of 24 queries")


def test_ties_are_told_with_what_their_order_can_change(folder):
    path = folder / "alpha.trec"
    edit(path, lambda lines: [line.__setitem__(4, "1.0") for line in lines[:60]])
    told = {one.code: one for one in report_of(folder).findings}
    assert told["W410"].what == "59 documents with the score of the one before"
    assert told["W411"].what.startswith("1 of 24 queries")
    # Recall@50: of the first query at best all relevant documents that were returned are within the first 50, at worst
    # the ten last places are taken by relevant ones; the other queries stay as they are.
    data = _data(folder)
    run, query_id = read_run(path), read_run(path).query_ids[0]
    relevant = {doc_id for doc_id, gain in data.qrels[query_id].items() if gain}
    returned = len(relevant & set(run[query_id]))
    others = evaluate(run, data, "Recall@50", intervals=False).per_query["Recall@50"]
    rest = sum(value for query, value in others.items() if query != query_id)
    low = (rest + max(0, returned - 10) / len(relevant)) / 24
    high = (rest + min(50, returned) / len(relevant)) / 24
    assert f"Recall@50 from {low:.4f} to {high:.4f}" in told["W410"].got


def test_ties_that_change_nothing_are_told_so(folder):
    def tie(lines):  # the last two of the 60 documents of a query, beyond what any measure looks at
        lines[59][4] = lines[58][4]

    edit(folder / "alpha.trec", tie)
    (told,) = (one for one in report_of(folder).findings if one.code == "W410")
    assert (told.what, told.got) == ("1 document with the score of the one before", "ties whose order changes no mean")


def _data(folder):
    return load(read_definition(folder.parent).topic("alpha").dataset)


def test_a_run_that_ranks_what_nobody_judged_is_warned_of(folder):
    data = _data(folder)
    documents = [document.doc_id for document in data.corpus]
    run = {
        query_id: {doc_id: float(-number) for number, doc_id in enumerate(d for d in documents if d not in judged)}
        for query_id, judged in data.qrels.items()
    }
    write_run(Run.from_dict(run), folder / "alpha.trec")
    (told,) = (one for one in report_of(folder).findings if one.code == "W412")
    assert told.got == "0.000"
    assert "distances" in told.fix, "the commonest reason: the nearest documents come last"


def _ideal(data):
    """A run that ranks every document by the nuggets it supports."""
    documents = [document.doc_id for document in data.corpus]
    found = {}
    for query_id, gains in data.qrels.items():
        ranked = sorted(documents, key=lambda doc_id: (-gains.get(doc_id, 0), doc_id))
        found[query_id] = {doc_id: float(-place) for place, doc_id in enumerate(ranked[:60])}
    return Run.from_dict(found)


def test_a_run_above_the_oracles_is_warned_of_unless_it_is_one(folder):
    write_run(_ideal(_data(folder)), folder / "alpha.trec")
    assert "W413" in codes(report_of(folder))
    retell(folder, lambda told: told["system"].update(setting="oracle"))
    assert "W413" not in codes(report_of(folder))


def test_the_file_of_somebody_else_is_refused(folder):
    other = folder.parent / "20261101-acme-bm25"
    shutil.copy(other / "beta.trec", folder / "beta.trec")
    (told,) = (one for one in report_of(folder).findings if one.code == "E405")
    assert told.got == "the very file of 20261101-acme-bm25"
    assert "submission.yaml of one that was taken says something wrong, open an issue" in told.fix, (
        "it may be one's own"
    )
    both = report_of(other, folder)
    assert [(one.code, one.file) for one in both.findings if one.code == "E405"] == [
        ("E405", str(folder / "beta.trec"))
    ]


def _compressed(path):
    content = gzip.compress(path.read_bytes(), 3, mtime=77)
    path.unlink()
    path.with_name(f"{path.name}.gz").write_bytes(content)


@pytest.mark.parametrize(
    "disguise",
    [
        _compressed,
        lambda path: edit(path, lambda lines: [line.__setitem__(5, "mine") for line in lines]),
        lambda path: edit(path, list.reverse),
    ],
    ids=["compressed", "another tag", "other way up"],
)
def test_the_run_of_somebody_else_is_refused_in_another_file_too(folder, disguise):
    other = folder.parent / "20261101-acme-bm25"
    shutil.copy(other / "beta.trec", folder / "beta.trec")
    disguise(folder / "beta.trec")
    told = [one for one in report_of(folder).findings if one.code in {"E405", "W414"}]
    assert [(one.code, one.got) for one in told] == [("E405", "the very run of 20261101-acme-bm25, in another file")]
    both = [one for one in report_of(other, folder).findings if one.code == "E405"]
    assert [one.file for one in both] == [str(next(folder.glob("beta.trec*")))]


def test_what_a_file_lacks_is_not_told_where_it_was_not_read_to_its_end(folder):
    path = folder / "alpha.trec"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:60]) + b"x" * (1 << 21) + b"\n" + b"".join(lines[60:]))
    assert codes(report_of(folder)) == {"E305"}


@pytest.mark.parametrize("scored", [True, False])
def test_a_run_that_hardly_differs_from_another_one_is_warned_of(folder, scored):
    other = folder.parent / "20261101-acme-bm25"
    if not scored:
        for path in folder.parent.glob("*/scores.json"):
            path.unlink()
    shutil.copy(other / "beta.trec", folder / "beta.trec")
    edit(folder / "beta.trec", lambda lines: [line.__setitem__(4, str(float(line[4]) + 1)) for line in lines])
    (told,) = (one for one in report_of(folder).findings if one.code == "W414")
    assert told.got.startswith("100.0 % of the first 10 documents")
    assert told.got.endswith("20261101-acme-bm25")


def test_a_run_on_another_snapshot_than_the_boards_is_refused(folder):
    path = folder.parent / "board.yaml"
    text = path.read_text()
    start = text.index("fingerprint: ") + len("fingerprint: ")
    path.write_text(text[:start] + "f" * 64 + text[text.index("\n", start) :])
    assert ("E404", "alpha.trec", 0) in found(report_of(folder))


def test_a_dataset_that_is_not_at_hand_is_an_error_and_the_rest_is_looked_at(folder):
    path = folder.parent / "board.yaml"
    path.write_text(path.read_text().replace("datasets/alpha", "datasets/nowhere"))
    edit(folder / "alpha.trec", change_line(9, 4, "nan"))
    report = report_of(folder)
    assert ("E406", "alpha.trec", 0) in found(report)
    assert ("E310", "alpha.trec", 9) in found(report)


def test_a_run_file_by_itself_is_looked_at_with_a_board(folder, tmp_path):
    shutil.copy(folder / "alpha.trec", tmp_path / "alpha.trec")
    edit(tmp_path / "alpha.trec", change_line(9, 2, "nowhere.md"))
    assert codes(report_of(tmp_path / "alpha.trec", board=folder.parent)) >= {"E402"}
    assert "E103" in codes(report_of(tmp_path / "alpha.trec"))
    shutil.copy(folder / "alpha.trec", tmp_path / "alpa.trec")
    (told,) = (one for one in report_of(tmp_path / "alpa.trec", board=folder.parent).findings if one.code == "E110")
    assert told.fix == "did you mean 'alpha'?"
