"""Whatever stands in the files of a board: it is read, or refused with an error of ours."""

import copy
import json
import shutil

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from leaderboard.boards.definition import read_definition
from leaderboard.boards.importing import import_rows
from leaderboard.boards.places import SUBMISSIONS, wrong_in_name
from leaderboard.boards.published import read_published
from leaderboard.boards.reading import read_board
from leaderboard.boards.reported import read_reported
from leaderboard.exports import published_json
from leaderboard.verdicts.deciding import decide

OURS = SUBMISSIONS / "freshstack" / "2024-10"
FILES = ("board.yaml", "reported.json", "reported-details.yaml")
CONTENT = {name: (OURS / name).read_bytes() for name in FILES}
ROW = json.loads(CONTENT["reported.json"])["rows"][0]
FROM = {"url": "https://acme.dev/board", "commit": None, "date": "2026-04-08"}

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=80)
THREES = st.integers(0, 1000).map(lambda number: number / 1000)
VALUES = st.fixed_dictionaries({"alpha_ndcg_10": THREES, "coverage_20": THREES, "recall_50": THREES})


@pytest.fixture
def board(tmp_path):
    folder = tmp_path / "submissions" / "freshstack" / "2024-10"
    folder.mkdir(parents=True)
    shutil.copy(OURS / "board.yaml", folder)
    return folder


@st.composite
def spoilt(draw):
    """One of the files of a board with a few of its bytes changed, taken out or put in."""
    name = draw(st.sampled_from(FILES))
    content = bytearray(CONTENT[name][: draw(st.integers(0, 4000))] if draw(st.booleans()) else CONTENT[name])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        content[at : at + draw(st.integers(0, 3))] = draw(
            st.binary(max_size=4) | st.sampled_from([b"{", b"]", b": ", b"\n  - "])
        )
    return name, bytes(content)


@SETTINGS
@given(spoilt())
def test_a_file_of_a_board_that_is_spoilt_is_read_or_refused(board, given_file):
    for name, content in CONTENT.items():
        (board / name).write_bytes(content)
    name, content = given_file
    (board / name).write_bytes(content)
    try:
        found = read_board(board)
    except InputError:
        return
    assert len({entry.entry_id for entry in found.entries}) == len(found.entries)


@SETTINGS
@given(st.lists(st.tuples(TEXTS, st.lists(VALUES, min_size=6, max_size=6)), max_size=5, unique_by=lambda pair: pair[0]))
def test_rows_that_are_imported_and_exported_come_back(board, tmp_path, given_rows):
    rows = []
    for name, values in given_rows:
        row = copy.deepcopy(ROW)
        row["info"]["name"] = name
        row["datasets"] = dict(zip(row["datasets"], values, strict=True))
        rows.append(row)
    path = tmp_path / "leaderboard_data.json"
    path.write_text(json.dumps({"leaderboardData": rows}), encoding="utf-8")
    import_rows(path, board, **FROM)
    found = read_board(board)
    path.write_text(published_json(found, decide(found, resamples=10)), encoding="utf-8")
    again = [row.model_dump() for row in read_published(path).leaderboardData]
    assert sorted(again, key=lambda row: row["info"]["name"]) == sorted(rows, key=lambda row: row["info"]["name"])
    ids = [entry.entry_id for entry in read_reported(board, read_definition(board))]
    assert len(set(ids)) == len(rows)


@SETTINGS
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)))  # fmt: skip
def test_any_yaml_is_a_definition_or_is_refused(board, value):
    (board / "board.yaml").write_text(yaml.safe_dump(value), encoding="utf-8")
    with pytest.raises(InputError):
        read_definition(board)


@given(st.text(max_size=60) | st.from_regex(r"20[0-9]{6}-[a-z0-9.-]{1,20}", fullmatch=True))
def test_a_name_that_is_allowed_is_safe_in_paths_and_addresses(name):
    if wrong_in_name(name) is None:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
        assert ".." not in name
        assert not name.startswith((".", "-"))
        assert not name.endswith((".", "-"))
