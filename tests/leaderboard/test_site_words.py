"""What the pages say in words, held to the systems of Nimbus that it is said of."""

import re

import pytest

from leaderboard.boards.places import SUBMISSIONS
from leaderboard.site.writing import build_site

BOARD = "nimbus/2026-11"
BM25, TITLES, FUSION = (f"20261130-freshstack-{name}" for name in ("bm25", "bm25-titles", "fusion"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "site"
    build_site(SUBMISSIONS, out, resamples=200)
    return out


def words(site, path):
    """Return the text of a page, in one line."""
    text = re.sub(r"<[^>]*>", " ", (site / path).read_text(encoding="utf-8").partition("<main")[2])
    return " ".join(text.split())


def row(site, system):
    text = (site / BOARD / "index.html").read_text(encoding="utf-8")
    (found,) = re.findall(rf'<tr[^>]* data-id="{re.escape(system)}".*?</tr>', text, re.DOTALL)
    return found


def test_a_system_without_a_model_has_no_licence_and_no_weights_that_somebody_could_know(site):
    for key in ("license", "weights", "size"):
        assert f'data-{key}="no model"' in row(site, BM25)
        assert f'data-{key}="no model"' not in row(site, FUSION)
    assert row(site, BM25).count(">no model</td>") == 3
    assert "n/a" not in row(site, BM25)
    page = words(site, f"{BOARD}/systems/{BM25}.html")
    for name in ("Parameters", "Licence of its models", "Weights"):
        assert f"{name} none: no model takes part" in page


def test_an_interval_of_one_rank_is_told_as_one(site):
    assert '<span class="range">8<span>' in row(site, TITLES)
    assert "8 to 8" not in words(site, f"{BOARD}/index.html")


def test_runs_that_came_out_the_same_are_said_to_be_the_same(site):
    page = words(site, f"{BOARD}/systems/{FUSION}.html")
    assert "The runs were made again with the command below; every mean is the same." in page


def test_nobody_is_said_to_have_chosen_the_documents_of_whose_documents_few_are_judged(site):
    """BM25 of titles finds documents that nobody judged: what was pooled is BM25, which is a part of it."""
    assert "35 %" in row(site, TITLES)
    assert "in the pool" in row(site, TITLES)
    assert "It, or a part of it, helped" in row(site, TITLES)
    assert "Helped to build the pool yes, it or a part of it" in words(site, f"{BOARD}/systems/{TITLES}.html")


def test_the_steps_to_submit_leave_no_scores_in_what_is_handed_in(site):
    page = words(site, "about.html").partition("How to submit")[2]
    assert "freshstack evaluate nimbus@2026-11 --run nimbus.trec" in page
    assert "leaderboard score" not in page


def test_a_question_that_is_cut_says_what_prints_it(site):
    assert "freshstack show freshstack/nimbus@2026-11 paraphrase-01" in words(
        site, f"{BOARD}/queries/nimbus/q-paraphrase-01.html"
    )
    assert "It goes on" not in words(site, f"{BOARD}/queries/nimbus/q-distractor-05.html")


def test_charts_of_reported_rows_promise_no_certainty(site):
    page = words(site, "freshstack/2024-10/charts.html")
    assert "how surely" not in page
    assert "Nothing here was tested" in page
    assert "how surely" in words(site, f"{BOARD}/charts.html")


def test_reported_rows_came_on_the_day_of_their_publication_and_not_of_their_models(site):
    """reported.json says that they are of 2026-04-08; the newest of their models came out on 2026-03-31."""
    assert "2026-04-08 freshstack 2024-10 40 systems as they were reported" in words(site, "changes.html")
    assert "Updated 2026-04-08" in words(site, "index.html").partition("Nimbus")[0]
    page = words(site, "freshstack/2024-10/systems/reported-qwen3-8b-emb.html")
    assert "Released 2025-06-05" in page
    assert "Scores published on 2026-04-08" in page


def test_what_nobody_published_of_a_reported_row_says_where_it_is_from(site):
    page = words(site, "freshstack/2024-10/systems/reported-harrier-oss-v1-270m.html")
    assert "The rest is known from arXiv:2504.13128, section 3.4: the documents were chosen by" in page
    assert "; MTEB 2.26.24, the metadata of microsoft/harrier-oss-v1-270m, whose training data lacks" in page


def test_no_oracle_is_called_the_best_of_a_topic(site):
    text = (site / "freshstack/2024-10/charts.html").read_text(encoding="utf-8")
    assert "bold: the best beside references" in text
    best = re.findall(r'<text[^>]*class="[^"]*fs-strong[^"]*"[^>]*>([0-9.]+)<', text)
    assert {"0.365", "0.421"} <= set(best)  # Qwen3-8B: all topics, Laravel
    assert "0.541" not in best  # an oracle


def test_pages_of_all_boards_say_that_reported_values_are_reported(site):
    footer = (site / "about.html").read_text(encoding="utf-8").partition("<footer")[2]
    assert "all values as they were reported" in footer
    assert "none" not in footer
