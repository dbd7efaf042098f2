"""The figure of times: whose time it shows, in what order, and on what it was measured."""

import re
from dataclasses import replace

import pytest

from leaderboard.boards.reading import read_board
from leaderboard.site.timing import timing
from leaderboard.submission.model import Latency
from tests.leaderboard.made import BOARD, SNAPSHOT, entry_of, made_board

SLOW, QUICK, OTHER, FOURTH, FIFTH, ORACLE = map(entry_of, range(6))


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    return read_board(made_board(tmp_path_factory.mktemp("made"), systems=6, topics=1, queries=8) / BOARD / SNAPSHOT)


def measured(board, **told):
    """The board with these medians, 95th percentiles and hardware, and no other."""

    def changed(entry):
        half, most, hardware = told.get(entry.entry_id, (None, None, None))
        latency = None if half is None else Latency(query_ms_p50=half, query_ms_p95=most, index_seconds=1.5)
        return replace(entry, submission=entry.submission.model_copy(update={"latency": latency, "hardware": hardware}))

    return replace(board, entries=tuple(map(changed, board.entries)))


def rows(figure):
    return [re.sub("(<[^>]+>)+", "|", row) for row in re.findall("<tr>(.*?)</tr>", figure)]


def test_without_any_time_there_is_no_figure_and_an_oracle_counts_for_none(board):
    assert timing(measured(board)) is None
    assert timing(measured(board, **{ORACLE: (1.0, 2.0, "a laptop")})) is None


def test_times_come_the_quickest_first_with_their_tails_and_what_they_were_measured_on(board):
    figure = timing(
        measured(board, **{SLOW: (2000.0, None, None), QUICK: (10.0, 40.0, "<b>8</b> cores"), ORACLE: (1.0, 2.0, "x")})
    )
    names = [board.entry(entry_id).name for entry_id in (QUICK, SLOW)]
    assert rows(figure) == [
        "|System|Median|95th percentile|Index|Hardware|",
        f"|{names[0]}|10 ms|40 ms|1.5 s|&lt;b&gt;8&lt;/b&gt; cores|",
        f"|{names[1]}|2 s|n/a|1.5 s|n/a|",
    ]
    assert figure.count(f"<title>{names[0]}, 95th percentile: 40 ms</title>") == 2  # for a desk and for a phone
    caption = re.search("<figcaption>(.*?)</figcaption>", figure)[1]
    assert caption.endswith("on: &lt;b&gt;8&lt;/b&gt; cores; hardware that nobody noted.")


def test_a_caption_names_as_much_hardware_as_there_is_room_for(board):
    four = {entry_id: (1.0, 2.0, f"machine {entry_id}") for entry_id in (SLOW, QUICK, OTHER, FOURTH)}
    figure = timing(measured(board, **four))
    assert "on: hardware of many kinds, which the table names.</figcaption>" in figure
    assert all(f"machine {entry_id}</td>" in figure for entry_id in four)
