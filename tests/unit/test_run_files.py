"""What each reader accepts, what it refuses and where, and what the writers refuse."""

import gzip
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import InputError, RunError, RunFileError, UnknownNameError
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import read_run, write_run

RUN = {"q1": {"d1": 2.5, "d 2": 1.0}, "q2": {"d1": -1e-3}}


@pytest.fixture
def read(tmp_path):
    def reader(data, name="run.trec"):
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return read_run(tmp_path / name).to_dict()

    return reader


@pytest.fixture
def refusal(read, tmp_path):
    def of(data, name="run.trec"):
        with pytest.raises(RunFileError) as caught:
            read(data, name)
        assert "\n" not in str(caught.value)
        return str(caught.value).removeprefix(str(tmp_path) + "/")

    return of


@pytest.mark.parametrize(
    "text, doc_id",
    [
        ("q\tQ0\td\t1\t0.5\ttag", "d"),
        ("q Q0 d 1 0.5 tag", "d"),
        ("  q  Q0\td   1 0.5 tag  ", "d"),
        ("q\tQ0\t two  spaces and one behind \t1\t0.5\ttag", " two  spaces and one behind "),
        ("q Q0 src/a  b.py 1 0.5 tag", "src/a  b.py"),
        ("q Q0 a\u00a0b 1 0.5 tag", "a\u00a0b"),
        ("q Q0 \u00a0 1 0.5 tag", "\u00a0"),
        ("q\tQ0\ta\u00a0b\t1\t0.5\ttag", "a\u00a0b"),
        ("q Q0 a\x0bb\x0cc\x1cd\x85e\u2028f 1 0.5 tag", "a\x0bb\x0cc\x1cd\x85e\u2028f"),
        ("q\tQ0\td\t1\t0.5\ttag with spaces", "d"),
        ("q\tQ0\td\t-1\t0.5\t", "d"),
        ("q\tQ0\td 1 2\t1 0.5\ttag", "d 1 2"),  # four tabs: by white space
    ],
)
def test_a_trec_line_is_cut_on_five_tabs_or_by_white_space(read, text, doc_id):
    assert read(text) == {"q": {doc_id: 0.5}}


def test_a_query_id_of_a_line_with_five_tabs_may_hold_a_space(read):
    assert read("q 1\tQ0\td\t1\t0.5\ttag") == {"q 1": {"d": 0.5}}


@pytest.mark.parametrize("score, value", [("1", 1.0), ("+.5", 0.5), ("5.", 5.0), ("-1E+2", -100.0), ("0.1", 0.1)])
def test_scores_of_any_plain_decimal_form_are_read(read, score, value):
    assert read(f"q Q0 d 1 {score} tag") == {"q": {"d": value}}


def test_line_ends_blank_lines_at_the_end_and_a_byte_order_mark_do_not_matter(read):
    lines = ["q Q0 d 1 2 tag", "q Q0 e 2 1 tag"]
    expected = {"q": {"d": 2.0, "e": 1.0}}
    for text in ("\n".join(lines), "\r\n".join(lines) + "\r\n", "\ufeff" + "\n".join(lines) + "\n\n \t\r\n\n"):
        assert read(text) == expected
    entries = [f'{{"query_id":"q","doc_id":"{d}","score":{s}}}' for d, s in expected["q"].items()]
    assert read("\ufeff" + "\r\n".join(entries) + "\r\n\r\n", "run.jsonl") == expected
    assert read("\ufeff \r\n" + json.dumps(expected, indent=1) + "\r\n\n", "run.json") == expected


def test_ranks_do_not_count_and_lines_may_come_in_any_order(read):
    text = "q2 Q0 a 9 1 t\nq1 Q0 b 1 1 t\nq2 Q0 c 9 2 t\nq1 Q0 a 0 1 t\n"
    run = read(text)
    assert list(run) == ["q2", "q1"]
    assert [list(run["q1"]), list(run["q2"])] == [["b", "a"], ["c", "a"]]  # ties: the larger id first


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "q Q0 d 1 1 t\nq Q0 e 2\n",
            "run.trec:2: a line, expected six fields: query-id Q0 doc-id rank score tag, got 4: ",
        ),
        ("q Q0 d 1 x t", "run.trec:1: score, expected a finite number such as 12.5 or 1e-3, got 'x'"),
        ("q Q0 d 1 nan t", "got 'nan'"),
        ("q Q0 d 1 -inf t", "got '-inf'"),
        ("q Q0 d 1 1e999 t", "got '1e999'"),
        ("q Q0 d 1 1_000 t", "got '1_000'"),
        ("q\tQ0\td\t1\t1_000\tt", "got '1_000'"),
        ("q Q0 d 1 ١٢ t", "run.trec:1: score"),
        ("q\tQ0\td\t1\t 1\tt", "got ' 1'"),
        ("q\tQ0\td\t1\t\tt", "got ''"),
        ("q\tQ0\td\t\t1\tt", "run.trec:1: rank, expected a whole number, got ''"),
        ("q Q0 d1 0 1.5 bge 2 large", "run.trec:1: rank, expected a whole number, got 'bge'"),
        ("q Q0 d 1.0 1 t", "run.trec:1: rank"),
        ("\tQ0\td\t1\t1\tt", "run.trec:1: query id"),
        ("q\tQ0\t\t1\t1\tt", "run.trec:1: document id"),
        ("q\tQ0\td\te\t1\t1\tt", "run.trec:1: a line, expected six fields: query-id Q0 doc-id rank score tag, got 7"),
        ("q Q0 d\re 1 1 t", "run.trec:1: a line of text, expected no carriage return"),
        ("q Q0 d 1 1 t\n\nq Q0 e 1 1 t", "run.trec:2: an empty line"),
        ("q Q0 d 1 1 t\nq Q0 d\0 1 1 t", "run.trec:2: a line of text, expected no NUL"),
        (b"q Q0 d 1 1 t\nq Q0 \xff 1 1 t", "run.trec:2: text, expected UTF-8, got the bytes b'\\xff 1 1 t'"),
        ("q Q0 d 1 1 t".encode("utf-16"), "run.trec:1: text, expected UTF-8"),
        ("q Q0 " + "d" * 10_001 + " 1 1 t", "run.trec:1: document id, expected at most 10000 characters, got 10001"),
        ("q Q0 d 1 1 t\n" + "x" * (1 << 20) + "x", "run.trec:2: a line, expected at most 1048576 bytes"),
        (
            "q Q0 d 1 1 t\nq Q0 e 1 1 t\nr Q0 d 1 1 t\nq Q0 e 2 0 t",
            "run.trec:4: document 'e' of query 'q', expected it once, got it a second time, after line 2",
        ),
        ("", "run.trec: a run, expected at least one query, got none: the file is empty"),
        ("\n \r\n", "got none: the file is empty"),
    ],
)
def test_a_fault_in_a_trec_file_is_named_with_its_line(refusal, text, message):
    got = refusal(text)
    assert message in got
    assert got.startswith("run.trec:")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "run.json:1: JSON, expected an object of query id to document id to score, got the end of the file"),
        ("\n\n [1]", "run.json:3: JSON, expected an object of query id"),
        ("{}", "run.json: a run, expected at least one query, got none"),
        (
            '{"q": [["d", 1.5]]}',
            """run.json:1: JSON, expected an object of document id to score, got '[["d", 1.5]]}'""",
        ),
        ('{"q": 1}', "run.json:1: JSON, expected an object of document id to score, got '1}'"),
        ('{"q": {"d": {}}}', "expected a finite number, got '{}}}'"),
        ('{"q":\n{"d": 1,\n"e": "1"}}', "run.json:3: JSON, expected a finite number, got '\"1\"}}'"),
        ('{"q": {"d": NaN}}', "expected a finite number, got 'NaN}}'"),
        ('{"q": {"d": -Infinity}}', "expected a finite number"),
        ('{"q": {"d": 1e999}}', "run.json:1: score, expected a finite number, got '1e999'"),
        ('{"q": {"d": true}}', "expected a finite number"),
        ('{"q": {"d": 01}}', "expected a comma or a closing brace, got '1}}'"),
        ('{"q": {"d": 1_0}}', "expected a comma or a closing brace, got '_0}}'"),
        ('{"q": {"d": ١}}', "expected a finite number"),
        ('{"q": {"d": 1,}}', "expected a document id in quotes"),
        ('{"q": {"d": 1},}', "expected a query id in quotes"),
        ('{"q": {"d": 1}', "expected a comma or a closing brace, got the end of the file"),
        ('{"q": {"d": 1}}\n{}', "run.json:2: JSON, expected nothing after the end of the object"),
        ('{"q": {"d": 1,\n"e": 1,\n"d": 2}}', "run.json:3: document 'd', expected it once, got it twice"),
        ('{"q": {"d": 1},\n"q": {"e": 1}}', "run.json:2: query 'q', expected it once, got it twice"),
        ('{"q": {"d": 1, "\\u0064": 2}}', "document 'd', expected it once"),
        ('{"q": {"": 1}}', "run.json:1: document id"),
        ('{"": {"d": 1}}', "run.json:1: query id"),
        ('{"q": {"a\\tb": 1}}', "run.json:1: document id"),
        ('{"q": {"a\tb": 1}}', "expected a document id in quotes"),
        ('{"q": {"\\ud800": 1}}', "half a surrogate pair"),
        ('{"q": {"\\x": 1}}', "expected a JSON string"),
        ('{"q": {"d": 1, "e', "expected a document id in quotes"),
        (b'{"q":\n{"\xff": 1}}', "run.json:2: text, expected UTF-8"),
        ('{"q": {"' + "d" * 10_001 + '": 1}}', "expected at most 10000 characters, got 10001"),
        ("[" * 100_000, "expected an object of query id"),
        ('{"q":' * 100_000, "expected a finite number"),
    ],
)
def test_a_fault_in_nested_json_is_named_with_its_line(refusal, text, message):
    assert message in refusal(text, "run.json")


GOOD = '{"query_id": "q", "doc_id": "d", "score": 1}\n'


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "run.jsonl: a run, expected at least one query, got none: the file is empty"),
        (GOOD + "[]", "run.jsonl:2: JSON, expected an object such as"),
        (GOOD + "{", "run.jsonl:2: JSON, character 2: "),
        (GOOD + GOOD.replace('"d"', '"e"').strip() * 2, "run.jsonl:2: JSON, character 45: Extra data"),
        ('{"query_id": "q", "score": 1}', "run.jsonl:1: no doc_id"),
        (
            '{"query_id": 5, "doc_id": "d", "score": 1}',
            "run.jsonl:1: query id, expected a non-empty string without tab or line break, got 5",
        ),
        (
            '{"query_id": "q", "doc_id": 5.50, "score": 1}',
            "document id, expected a non-empty string without tab or line break, got 5.50",
        ),
        ('{"query_id": "q", "doc_id": [5, {"a": 1e2}], "score": 1}', "got [5, {'a': 1e2}]"),
        ('{"query_id": null, "doc_id": "d", "score": 1}', "got null"),
        ('{"query_id": "q", "doc_id": "", "score": 1}', "run.jsonl:1: document id"),
        ('{"query_id": "q", "doc_id": "d", "score": "1"}', "run.jsonl:1: score, expected a finite number, got '1'"),
        ('{"query_id": "q", "doc_id": "d", "score": NaN}', "got NaN, which is no JSON number"),
        ('{"query_id": "q", "doc_id": "d", "score": 1e999}', "got 1e999"),
        ('{"query_id": "q", "doc_id": "d", "score": true}', "got true"),
        ('{"query_id": "q", "doc_id": "d", "score": 1, "score": 2}', "got key 'score' twice"),
        ('{"query_id": "q", "doc_id": "\\ud800", "score": 1}', "half a surrogate pair"),
        (GOOD + "[" * 100_000, "run.jsonl:2: JSON"),
        (GOOD + GOOD, "run.jsonl:2: document 'd' of query 'q', expected it once, got it a second time, after line 1"),
        (GOOD + "\n" + GOOD, "run.jsonl:2: an empty line"),
        (b"\xff", "run.jsonl:1: text, expected UTF-8"),
    ],
)
def test_a_fault_in_json_lines_is_named_with_its_line(refusal, text, message):
    assert message in refusal(text, "run.jsonl")


def test_other_keys_of_json_lines_do_not_count_and_numbers_may_be_huge(read):
    text = '{"rank": 1, "score": 1' + "0" * 200 + ', "doc_id": "d", "query_id": "q", "text": [{"a": null}]}'
    assert read(text, "run.jsonl") == {"q": {"d": 1e200}}


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"query_id": ["q"], "doc_id": ["d"]}, "column score, expected it once, got the columns 'query_id', 'doc_id'"),
        ({"query_id": [1], "doc_id": ["d"], "score": [1.0]}, "column query_id, expected strings, got 'int64'"),
        ({"query_id": ["q"], "doc_id": ["d"], "score": ["1"]}, "column score, expected numbers, got 'string'"),
        ({"query_id": ["q", "q"], "doc_id": ["d", None], "score": [1, 2]}, "row 2: document id"),
        ({"query_id": ["q", ""], "doc_id": ["d", "e"], "score": [1, 2]}, "row 2: query id"),
        ({"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, None]}, "row 2: score"),
        (
            {"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, np.inf]},
            "row 2: score, expected a finite number",
        ),
        ({"query_id": ["q", "q"], "doc_id": ["d", "d"], "score": [1.0, 2.0]}, "row 2: document 'd' of query 'q'"),
        (
            {
                "query_id": pa.array([], pa.string()),
                "doc_id": pa.array([], pa.string()),
                "score": pa.array([], pa.int8()),
            },
            "got none",
        ),
    ],
)
def test_a_fault_in_parquet_is_named_with_its_row(refusal, tmp_path, columns, message):
    assert message in refusal(parquet(tmp_path / "made", **columns), "run.parquet")


def test_parquet_of_other_number_and_string_types_is_read(read, tmp_path):
    data = parquet(
        tmp_path / "made",
        score=pa.array([2, 1], pa.float32()),
        rank=[1, 2],
        query_id=pa.array(["q", "q"]).dictionary_encode(),
        doc_id=pa.array(["a", "b"], pa.large_string()),
    )
    assert read(data, "run.parquet") == {"q": {"a": 2.0, "b": 1.0}}


def test_a_parquet_footer_of_absurd_size_is_refused_before_it_is_read(refusal):
    assert "expected a footer of at most" in refusal(b"PAR1" + struct.pack("<I", 1 << 31) + b"PAR1", "run.parquet")
    assert "got an empty file" in refusal(b"", "run.parquet")


DAMAGE = """
import sys
from pathlib import Path
from freshstack_datasets.errors import RunFileError
from freshstack_datasets.runs import read_run
good = Path(sys.argv[1]).read_bytes()
for place in range(len(good) - 8 - int.from_bytes(good[-8:-4], "little"), len(good)):
    bad = Path(sys.argv[2])
    bad.write_bytes(good[:place] + bytes([(good[place] + 2) % 256]) + good[place + 1 :])
    try:
        read_run(bad)
    except RunFileError:
        pass
print("survived")
"""


def test_no_damage_to_a_parquet_footer_ends_the_process(tmp_path):
    pq.write_table(pa.table({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), tmp_path / "good.parquet")
    command = [sys.executable, "-c", DAMAGE, tmp_path / "good.parquet", tmp_path / "bad.parquet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr[-300:]) == ("survived\n", "")


def test_a_truncated_or_damaged_gzip_file_is_refused_after_the_lines_that_were_good(refusal):
    # Stored, not compressed: so 3,000 lines of 17 bytes stand in the file as they are.
    lines = "".join(f"q Q0 d{i:04d} 1 1 t\n" for i in range(3000)).encode()
    data = gzip.compress(lines, compresslevel=0)
    assert refusal(data[:-20], "run.trec.gz").endswith(
        "gzip data, expected an end mark, got a truncated file; copy the file again"
    )
    assert "run.trec.gz:2999: " in refusal(data[:-30], "run.trec.gz")
    damaged = "gzip data, expected a whole file, got 'Error -3 while decompressing data: incorrect data check'"
    assert damaged in refusal(data[:-8] + b"12345678", "run.trec.gz")
    assert "run.trec.gz:1: gzip data" in refusal(b"plain text", "run.trec.gz")
    assert "run.json.gz:1: gzip data" in refusal(data[:5], "run.json.gz")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here that opens and cannot be read")
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "run.trec").symlink_to("/proc/self/mem")
    with pytest.raises(RunFileError) as caught:
        read_run(tmp_path / "run.trec")
    assert str(caught.value).endswith(
        "run.trec:1: a run file that cannot be read, expected bytes up to its end, got 'Input/output error'; "
        "copy the file again"
    )


@pytest.mark.parametrize("name", ["run.trec", "run.jsonl"])
def test_a_line_that_is_too_long_is_refused_whether_or_not_it_ends(refusal, name):
    for end in ("", "\n"):
        assert f"{name}:1: a line, expected at most 1048576 bytes" in refusal("9" * (1 << 20) + "9" + end, name)
    number = '{"query_id": "q", "doc_id": "d", "score": 0.' + "9" * (1 << 20) + "}\n"
    assert "run.jsonl:1: a line, expected at most 1048576 bytes" in refusal(number, "run.jsonl")


def test_nested_json_of_one_query_with_more_documents_than_are_held_as_text(read):
    # 200,000 entries of about 30 bytes: 6 MB, more than is read at once.
    documents = {f"document number {i:08d}": i / 4 for i in range(200_000)}
    assert read(json.dumps({"a": {"d": 1.0}, "q": documents}), "run.json") == {"a": {"d": 1.0}, "q": documents}
    text = json.dumps({"a": {"d": 1.0}, "q": documents}, indent=0)
    with pytest.raises(RunFileError, match=r"run\.json:190006: JSON, expected a finite number, got 'null"):
        read(text.replace("47500.0,", "null,"), "run.json")


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    for path in (tmp_path / "none.trec", tmp_path / "none.parquet", tmp_path / "nul\0.json"):
        with pytest.raises(RunFileError) as caught:
            read_run(path)
        assert ": a run file that cannot be opened, expected a file that is there and may be read, got '" in str(
            caught.value
        )
        assert str(caught.value).endswith("'; check the path")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(RunFileError, match="Is a directory"):
        read_run(tmp_path / "folder.json")


@pytest.mark.parametrize("suffix", ["trec", "json.gz", "parquet"])
def test_a_path_with_a_line_break_or_an_escape_sequence_stays_on_one_printable_line(tmp_path, suffix):
    with pytest.raises(RunFileError) as caught:
        read_run(tmp_path / f"a\n\x1b[31mb.{suffix}")
    assert f"/a\\n\\x1b[31mb.{suffix}: " in str(caught.value)
    assert str(caught.value).isprintable()


def test_the_format_goes_by_the_suffix_unless_it_is_named(tmp_path):
    write_run(RUN, tmp_path / "a.TXT")
    assert (tmp_path / "a.TXT").read_text().startswith("q1\tQ0\td1\t1\t2.5\trun\n")
    write_run(RUN, tmp_path / "b.out", format="json")
    assert json.loads((tmp_path / "b.out").read_text()) == RUN
    assert read_run(tmp_path / "b.out", format="json").to_dict() == RUN
    write_run(RUN, tmp_path / "c.gz", format="jsonl")
    assert json.loads(gzip.decompress((tmp_path / "c.gz").read_bytes()).split(b"\n")[1]) == {
        "query_id": "q1",
        "doc_id": "d 2",
        "score": 1.0,
        "run": "run",
    }


@pytest.mark.parametrize(
    "name, data",
    [
        ("run.txt", b'{"query_id": "q", "doc_id": "d", "score": 1}'),
        ("run.jsonl", b"q Q0 d 1 1 t"),
        ("run.jsonl", b'["q", "d", 1]'),
        ("run.json", b"q Q0 d 1 1 t"),
        ("run.parquet", b"q Q0 d 1 1 t"),
    ],
)
def test_a_file_that_looks_like_another_format_says_what_to_do(refusal, name, data):
    assert refusal(data, name).endswith("; if the file is of another format, rename it, or in Python give its format")


def test_a_gzipped_file_whose_name_does_not_say_so_and_the_reverse_say_what_to_do(refusal):
    assert refusal(gzip.compress(b"q Q0 d 1 1 t")).endswith(
        "; save it as UTF-8, or let its name end with .gz if it is gzipped"
    )
    assert refusal(b"q Q0 d 1 1 t", "run.trec.gz").endswith("or take .gz off its name if it is not compressed")


@pytest.mark.parametrize("name", ["run", "run.csv", "run.gz", "run.csv.gz", ".trec"])
def test_an_unknown_suffix_is_an_error_that_lists_the_known_ones(tmp_path, name):
    for act in (read_run, lambda path: write_run(RUN, path)):
        with pytest.raises(InputError, match=r"\.trec, \.run, \.txt, \.json, \.jsonl .*\.gz\) or \.parquet"):
            act(tmp_path / name)


def test_an_unknown_format_and_zipped_parquet_are_errors(tmp_path):
    with pytest.raises(UnknownNameError, match="unknown run format 'jsn'; did you mean 'json'"):
        read_run(tmp_path / "run.trec", format="jsn")
    with pytest.raises(InputError, match=r"expected parquet without \.gz"):
        write_run(RUN, tmp_path / "run.parquet.gz")


def test_a_run_is_named_by_its_tag_else_by_its_file(tmp_path):
    write_run(Run.from_dict(RUN, "BM25 (k1=0.9)\u00a0v\n2"), tmp_path / "a.trec")
    assert read_run(tmp_path / "a.trec").name == "BM25_(k1=0.9)_v_2"
    write_run(RUN, tmp_path / "my.system.json.gz")
    assert read_run(tmp_path / "my.system.json.gz").name == "my.system"
    (tmp_path / "untagged.run").write_text("q\tQ0\td\t1\t1\t\n")
    assert read_run(tmp_path / "untagged.run").name == "untagged"


@pytest.mark.parametrize("file", ["run.jsonl", "run.jsonl.gz", "run.parquet"])
@pytest.mark.parametrize(
    "name, back",
    [
        ("BM25 (k1=0.9) é日🜁", "BM25 (k1=0.9) é日🜁"),
        ('a "quoted" \\ name', 'a "quoted" \\ name'),
        ("a\x1b[31m\r\n\x9bb\u2028\u202ec\x00", "a_[31m___b__c_"),
        ("half \ud800", "half _"),
        ("n" * 5_000_000, "n" * 200),
        ("", "run"),  # the file's name
    ],
)
def test_json_lines_and_parquet_keep_the_name_of_a_run(tmp_path, file, name, back):
    write_run(Run.from_dict(RUN, name), tmp_path / file)
    run = read_run(tmp_path / file)
    assert (run.name, run.to_dict()) == (back, RUN)


def test_a_long_tag_is_cut_so_that_the_file_can_be_read(tmp_path):
    write_run(Run.from_dict(RUN, "n" * 2_000_000), tmp_path / "a.trec")
    assert read_run(tmp_path / "a.trec").name == "n" * 200


def test_the_first_line_of_json_lines_names_the_run_when_it_holds_a_string(tmp_path):
    lines = [GOOD.replace("}", ', "run": "first"}'), GOOD.replace('"d"', '"e"').replace("}", ', "run": "other"}')]
    cases = {"first": lines, "a": [GOOD, lines[1]]}
    for value in ("5", "null", '""', '{"name": "n"}'):
        cases["a"] = [GOOD.replace("}", f', "run": {value}}}', 1), lines[1]]
        for name, text in cases.items():
            (tmp_path / "a.jsonl").write_text("".join(text))
            assert read_run(tmp_path / "a.jsonl").name == name
    (tmp_path / "a.jsonl").write_text(GOOD.replace("}", ', "run": "a\\u001b\\ud800\\"b"}'))
    assert read_run(tmp_path / "a.jsonl").name == 'a__"b'


def test_a_name_in_parquet_that_is_no_text_is_made_one(tmp_path):
    columns = {"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}
    pq.write_table(pa.table(columns).replace_schema_metadata({b"run": b"\xff\n" + b"n" * 300}), tmp_path / "a.parquet")
    assert read_run(tmp_path / "a.parquet").name == "\ufffd_" + "n" * 198


@pytest.mark.parametrize(
    "run, name, message",
    [
        ({"a b": {"d": 1.0}}, "run.trec", "query id 'a b' in a TREC file, expected no space"),
        ({"\ufeffq": {"d": 1.0}}, "run.trec", "byte-order mark"),
        ({"q": {"a\0": 1.0}}, "run.trec", "NUL"),
        (
            {"q": {}},
            "run.jsonl",
            "as jsonl, expected at least one document, since only JSON can hold a query that found",
        ),
        ({}, "run.json", "a run to write, expected at least one query, got none"),
        ({"q": {"d" * 10_001: 1.0}}, "run.jsonl", "expected at most 10000 characters, got 10001"),
    ],
)
def test_what_would_not_read_back_is_not_written(tmp_path, run, name, message):
    with pytest.raises(RunError, match=message):
        write_run(run, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_queries_found_nothing_goes_into_json_and_comes_back(tmp_path):
    write_run({"q2": {}, "q1": {}}, tmp_path / "run.json")
    run = read_run(tmp_path / "run.json")
    assert run.query_ids == ("q2", "q1")
    assert run.to_dict() == {"q2": {}, "q1": {}}


def test_ids_with_nul_go_into_every_format_but_trec(tmp_path):
    for name in ("run.json", "run.jsonl", "run.parquet"):
        write_run({"q\0": {"a\0": 1.0}}, tmp_path / name)
        assert read_run(tmp_path / name).to_dict() == {"q\0": {"a\0": 1.0}}


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_run(RUN, tmp_path / "run.trec.gz")
    before = (tmp_path / "run.trec.gz").read_bytes()
    with pytest.raises(RunError):
        write_run({"q": {"d": 1.0}, "a b": {"d": 1.0}}, tmp_path / "run.trec.gz")
    assert (tmp_path / "run.trec.gz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.trec.gz"]


def test_a_place_that_cannot_be_written_is_an_input_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run.trec", tmp_path / "nul\0.trec"):
        with pytest.raises(InputError, match="cannot write"):
            write_run(RUN, path)
