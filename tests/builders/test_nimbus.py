"""Nimbus is what its card says: families, traps, questions, and judgments that leave no look-alike out."""

import json
import re
import subprocess
import sys
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from builders import nimbus
from builders.__main__ import main
from freshstack_datasets import BM25, load, verify
from freshstack_datasets.catalog import bundled
from freshstack_datasets.errors import InputError
from freshstack_datasets.retrieval.language import detected_language, terms

GOLDEN = Path(__file__).parents[1] / "data" / "nimbus_bm25.json"
CODE = re.compile(r"\b(?:ERR-\d{4}|SKU-\d\d[MA])\b")
PAGES = {page.doc_id: page for page in nimbus.documents()}
QUERIES = {query.query_id: query for query in nimbus.queries()}
NUGGETS = tuple(nimbus.nuggets())
JUDGMENTS = tuple(nimbus.judgments())
NEAR = 0.3
"""The overlap from which two pages are near-duplicates: that of siblings is above 0.6, of any other two below 0.25."""
FAMILIES = {"exact": {"err", "plan"}, "paraphrase": {"bill", "acct"}, "distractor": {"pol"}}
"""Where the answers to a type of question are, for the most part."""


def language(page):
    return page.metadata["url"].split("/")[3]


def family(doc_id):
    return doc_id.split("-")[0]


def words(page):
    return re.findall(r"[\w-]+", page.default_text().lower())


@cache
def shingles(doc_id, length=4):
    found = words(PAGES[doc_id])
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


@cache
def overlap(a, b):
    """Share of the word 4-grams of two pages that both hold (Jaccard)."""
    return len(shingles(a) & shingles(b)) / len(shingles(a) | shingles(b))


def alike(a, b):
    """Share of words in the same order: 1 for equal texts."""
    return SequenceMatcher(None, words(PAGES[a]), words(PAGES[b]), autojunk=False).ratio()


def siblings(kind):
    """Pairs of pages that were made to be mixed up."""
    if kind == "err":
        codes = sorted(int(doc_id[4:]) for doc_id in PAGES if family(doc_id) == "err")
        return [(f"err-{a}", f"err-{a + 1}") for a in codes if a + 1 in codes]
    ends = {"plan": ("m", "a"), "pol": ("2024", "2026")}[kind]
    firsts = [doc_id for doc_id in sorted(PAGES) if family(doc_id) == kind and doc_id.endswith(ends[0])]
    return [(doc_id, doc_id.removesuffix(ends[0]) + ends[1]) for doc_id in firsts]


def relevant(query_id):
    return {j.doc_id for j in JUDGMENTS if j.query_id == query_id and j.score}


def judged(query_id):
    return {j.doc_id for j in JUDGMENTS if j.query_id == query_id}


def test_making_it_again_gives_the_snapshot_of_the_package(tmp_path):
    again = nimbus.build(tmp_path / "nimbus")
    shipped = load("nimbus")
    assert {name: table.digest for name, table in again.tables.items()} == {
        name: table.digest for name, table in shipped.manifest.tables.items()
    }
    assert again.fingerprint == shipped.fingerprint
    assert (tmp_path / "nimbus" / "README.md").read_bytes() == (shipped.path / "README.md").read_bytes()


def test_the_snapshot_of_the_package_is_whole():
    assert verify(bundled()["freshstack/nimbus"]) == []


def test_another_seed_changes_the_pages_and_no_question(tmp_path):
    assert [d.text for d in nimbus.documents(1)] != [d.text for d in nimbus.documents()]
    other = nimbus.build(tmp_path / "other", seed=1)
    ours = load("nimbus").manifest.tables
    same = {name for name, table in other.tables.items() if table.digest == ours[name].digest}
    assert same == {"queries", "nuggets", "qrels", "nugget_qrels"}
    assert other.dataset == "freshstack/nimbus-seed-1"  # two datasets of one name and snapshot would be mixed up


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63)])
def test_the_recipe_tells_the_seed(tmp_path, seed):
    nimbus.build(tmp_path / "made", seed)
    assert load(tmp_path / "made").manifest.recipe.parameters == {"seed": seed}


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 2504.0, "2504", True, None])
def test_a_seed_that_the_recipe_could_not_tell_is_refused(tmp_path, seed):
    with pytest.raises(InputError, match="the seed, expected a whole number of 64 bits, got "):
        nimbus.build(tmp_path / "made", seed)
    assert list(tmp_path.iterdir()) == []


def test_the_texts_are_made_with_the_standard_library_alone():
    code = """
import sys
from builders import nimbus
made = nimbus.documents(), [*nimbus.queries()], [*nimbus.nuggets()], [*nimbus.judgments()]
roots = {name.partition(".")[0] for name in sys.modules}
print(sorted(roots - set(sys.stdlib_module_names) - {"__main__", "builders", "freshstack_datasets"}))
"""
    # -S: no site, so that nothing that was installed can be imported at all
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_command_makes_it_and_says_so(tmp_path, capsys):
    assert main(["nimbus", "--out", str(tmp_path / "made")]) == 0
    shipped = load("nimbus")
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'made'}: freshstack/nimbus@2026-11, fingerprint {shipped.fingerprint[:12]}",
        "60 queries, 200 documents, Apache-2.0",
    ]
    assert load(tmp_path / "made").fingerprint == shipped.fingerprint


def test_what_the_card_calls_detectable_follows_from_the_spread():
    card = (bundled()["freshstack/nimbus"] / "README.md").read_text(encoding="utf-8")
    section = card.split("## What it cannot tell")[1].split("\n## ")[0]
    whole = re.search(r"is (0\.\d\d) between .* (0\.\d\d) between .* of (0\.\d\d) or (0\.\d\d) on all (60)", section)
    first, second, *detected, number = map(float, whole.groups())
    told = [(detected[0], first, number), (detected[1], second, number)]
    for match in re.finditer(r"(0\.\d\d) \((0\.\d\d)\) or (0\.\d\d) \((0\.\d\d)\) on the (\d\d) of", section):
        a, first, b, second, number = map(float, match.groups())
        told += [(a, first, number), (b, second, number)]
    assert sorted(number for *_, number in told) == [10, 10, 15, 15, 15, 15, 20, 20, 60, 60]
    for detectable, spread, number in told:  # (z(0.975) + z(0.8)) * s / sqrt(n), and s itself is rounded to 0.01
        assert detectable == pytest.approx((1.95996 + 0.84162) * spread / number**0.5, abs=0.01)


def test_the_card_tells_questions_and_scores_as_they_are():
    card = (bundled()["freshstack/nimbus"] / "README.md").read_text(encoding="utf-8")
    languages = Counter(query.language for query in QUERIES.values())
    assert f"{languages['es']} are in Spanish and {languages['en']} in English" in card
    assert f"{sum(len(relevant(query_id)) == 2 for query_id in QUERIES)} need two pages" in card
    [bm25] = json.loads(GOLDEN.read_text(encoding="utf-8"))["printed"]["results"]
    value = {part["value"]: part["measures"]["alpha_nDCG@10"]["value"] for part in bm25["slices"]}
    told = ", ".join(f"{value[trap]:.2f} on {trap}" for trap in ("exact", "distractor", "noise"))
    assert f"{told} and {value['paraphrase']:.2f} on paraphrase" in card


# The pages


def test_every_family_has_its_pages_and_a_fifth_of_each_is_in_english():
    assert Counter(map(family, PAGES)) == {
        "err": 40, "plan": 20, "bill": 25, "acct": 25, "pol": 30, "note": 30, "post": 30
    }  # fmt: skip
    english = Counter(family(doc_id) for doc_id, page in PAGES.items() if language(page) == "en")
    assert english == {"err": 8, "plan": 4, "bill": 5, "acct": 5, "pol": 6, "note": 6, "post": 6}


def test_an_id_tells_the_family_and_the_code():
    shapes = r"err-\d{4}|plan-\d\d[ma]|bill-\d\d|acct-\d\d|pol-\d\d-(2024|2026)|note-\d\d|post-\d\d"
    assert not [doc_id for doc_id in PAGES if not re.fullmatch(shapes, doc_id)]
    for doc_id, page in PAGES.items():
        if family(doc_id) == "err":
            assert doc_id.upper() in page.title
        if family(doc_id) == "plan":
            assert f"SKU-{doc_id[5:].upper()}" in page.title


@pytest.mark.parametrize("doc_id", PAGES)
def test_a_page_has_a_few_paragraphs(doc_id):
    text = PAGES[doc_id].text
    assert len(text.split("\n\n")) >= 3
    assert 90 <= len(words(PAGES[doc_id])) <= 320
    assert not re.search(r"[{}]|  |\bTODO\b", text)


def test_every_page_is_read_in_the_language_that_it_is_written_in():
    for doc_id, page in PAGES.items():
        for languages in (("es", "en"), ("en", "es")):
            assert detected_language(words(page), languages) == language(page), doc_id


def test_no_two_pages_share_a_title_but_the_policies_of_two_years():
    titles = Counter(page.title for page in PAGES.values())
    assert {title for title, count in titles.items() if count > 1} == {
        PAGES[doc_id].title for pair in siblings("pol") for doc_id in pair
    }
    assert max(titles.values()) == 2


def test_error_articles_come_in_pairs_that_share_almost_every_word():
    pairs = siblings("err")
    assert len(pairs) >= 15
    assert {"err-4012", "err-4013"} in map(set, pairs)
    for a, b in pairs:
        assert 0.8 <= alike(a, b) < 1, (a, b)


def test_monthly_and_annual_plans_differ_in_a_few_words():
    pairs = siblings("plan")
    assert len(pairs) == 10
    assert ("plan-52m", "plan-52a") in pairs
    for a, b in pairs:
        assert 0.8 <= alike(a, b) < 1, (a, b)
        prices = [set(re.findall(r"\d[\d.,]* ?€|€ ?\d[\d.,]*", PAGES[doc_id].text)) for doc_id in (a, b)]
        assert all(prices)
        assert prices[0] != prices[1]


def test_policies_of_two_years_have_one_title_other_numbers_and_a_notice():
    pairs = siblings("pol")
    assert len(pairs) == 15
    for old, new in pairs:
        assert PAGES[old].title == PAGES[new].title
        assert alike(old, new) >= 0.8, (old, new)
        numbers = [set(re.findall(r"\d+", PAGES[doc_id].text)) - {"2024", "2026"} for doc_id in (old, new)]
        assert numbers[0] - numbers[1], (old, new)
        assert numbers[1] - numbers[0], (old, new)
        assert "2026" in PAGES[old].text.split("\n\n")[0]
        assert not re.search(r"sustituid|replaced|superseded", PAGES[new].text.split("\n\n")[0])


def test_only_siblings_are_near_duplicates():
    pairs = {frozenset(pair) for kind in ("err", "plan", "pol") for pair in siblings(kind)}
    near = {frozenset(pair) for pair in combinations(PAGES, 2) if overlap(*pair) >= NEAR}
    assert near == pairs


def test_release_notes_and_posts_use_the_words_and_codes_of_the_others():
    noise = [page for doc_id, page in PAGES.items() if family(doc_id) in ("note", "post")]
    assert sum(bool(CODE.search(page.default_text())) for page in noise) >= 30
    known = {
        code for doc_id, page in PAGES.items() if family(doc_id) in ("err", "plan") for code in CODE.findall(page.title)
    }
    assert {code for page in noise for code in CODE.findall(page.default_text())} <= known


# The questions


def test_there_are_sixty_questions_of_four_types_in_two_languages():
    assert Counter(q.type for q in QUERIES.values()) == {"exact": 15, "paraphrase": 20, "distractor": 15, "noise": 10}
    assert Counter(q.language for q in QUERIES.values()) == {"es": 47, "en": 13}
    assert {q.type for q in QUERIES.values() if q.language == "en"} == {"exact", "paraphrase", "distractor", "noise"}
    assert all(q.query_id == f"{q.type}-{q.query_id[-2:]}" for q in QUERIES.values())
    assert len({q.text for q in QUERIES.values()}) == 60


@pytest.mark.parametrize("query_id", QUERIES)
def test_a_question_has_an_answer_a_few_nuggets_and_judged_negatives(query_id):
    assert len(QUERIES[query_id].answer_text.split()) >= 8
    assert 1 <= sum(n.query_id == query_id for n in NUGGETS) <= 3
    assert judged(query_id) - relevant(query_id)
    assert judged(query_id) <= PAGES.keys()
    for nugget in (n for n in NUGGETS if n.query_id == query_id):
        assert any(j.score for j in JUDGMENTS if j.nugget_id == nugget.nugget_id)


@pytest.mark.parametrize("query_id", QUERIES)
def test_every_near_duplicate_and_every_page_that_shares_a_code_is_judged(query_id):
    asked, answers = QUERIES[query_id], relevant(query_id)
    codes = set(CODE.findall(asked.text))
    near = {doc_id for doc_id in PAGES for page in answers if overlap(doc_id, page) >= NEAR}
    sharing = {doc_id for doc_id, page in PAGES.items() if codes & set(CODE.findall(page.default_text()))}
    assert (near | sharing) - judged(query_id) == set()


def test_release_notes_posts_and_superseded_policies_answer_nothing():
    answering = {j.doc_id for j in JUDGMENTS if j.score}
    assert not {doc_id for doc_id in answering if family(doc_id) in ("note", "post") or doc_id.endswith("-2024")}


@pytest.mark.parametrize("query_id", QUERIES)
def test_a_question_is_of_the_type_of_its_trap(query_id):
    asked, answers = QUERIES[query_id], relevant(query_id)
    negatives = judged(query_id) - answers
    assert {language(PAGES[doc_id]) for doc_id in answers} == {asked.language}
    if asked.type == "noise":
        assert {family(doc_id) for doc_id in negatives} & {"note", "post"}
    else:
        assert {family(doc_id) for doc_id in answers} & FAMILIES[asked.type]
    if asked.type == "exact":
        assert CODE.search(asked.text)
        assert any({a, b} <= judged(query_id) for kind in ("err", "plan") for a, b in siblings(kind))
    if asked.type == "distractor":
        assert {doc_id.replace("2026", "2024") for doc_id in answers if family(doc_id) == "pol"} <= negatives


CHANCE = {"años", "come", "give", "septemb", "those"}
"""Words of everyday and their stems, which few pages happen to hold."""


@pytest.mark.parametrize("query_id", [query_id for query_id in QUERIES if query_id.startswith("paraphrase")])
def test_an_everyday_question_shares_no_rare_word_with_the_page_that_answers(query_id):
    asked = QUERIES[query_id]
    stems = {doc_id: set(terms(page.default_text(), language(page))) for doc_id, page in PAGES.items()}
    holding = Counter(stem for found in stems.values() for stem in found)
    for doc_id in relevant(query_id):
        if family(doc_id) in FAMILIES["paraphrase"]:
            shared = set(terms(asked.text, asked.language)) & stems[doc_id]
            assert {stem for stem in shared if holding[stem] <= 5} <= CHANCE


def test_whatever_bm25_ranks_among_its_first_ten_is_judged():
    data = load("nimbus")
    run = BM25().index(data.corpus).search(data.queries, k=10)
    assert not [
        (query_id, doc_id) for query_id in QUERIES for doc_id in run[query_id] if doc_id not in judged(query_id)
    ]


def test_no_question_is_a_template_of_another():
    for a, b in combinations(QUERIES.values(), 2):
        assert SequenceMatcher(None, a.text.lower().split(), b.text.lower().split()).ratio() < 0.6, (a.text, b.text)
