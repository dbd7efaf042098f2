"""Whatever a model replies: each document is labelled exactly as a reply said, or lacking, and the counts add up."""

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.judging import judge
from builders.judging.packing import packed, parts_of
from builders.judging.replies import Reply, read_labels
from tests.builders.judging_made import Judge, Library, asked, chat, error, group, written
from tests.builders.judging_made import settings as set_to

NUGGETS = 3
JUNK = st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.floats(allow_nan=False), st.just([[1]]), st.just({}))
NUMBERS = st.lists(st.integers(-1, NUGGETS + 1), max_size=4)
ENTRY = st.one_of(
    st.fixed_dictionaries(
        {"document": st.integers(-1, 9), "reasoning": st.just("r"), "supports": st.one_of(NUMBERS, NUMBERS, JUNK)}
    ),
    st.fixed_dictionaries({"document": st.integers(1, 6), "supports": NUMBERS}),
    JUNK,
)


def clear(entries, number):
    """The nuggets of a document that a reply is clear about, None otherwise; written anew, rule by rule."""
    of = [entry for entry in entries if isinstance(entry, dict) and type(entry.get("document")) is int]
    mine = [entry for entry in of if entry["document"] == number]
    if len(mine) != 1 or not isinstance(mine[0].get("reasoning"), str) or not isinstance(mine[0].get("supports"), list):
        return None
    supports = mine[0]["supports"]
    if not all(type(one) is int and 1 <= one <= NUGGETS for one in supports):
        return None
    return sorted(set(supports))


@given(st.lists(ENTRY, max_size=9), st.integers(1, 6))
def test_a_reply_is_read_as_the_rules_say_and_every_entry_is_used_wrong_or_counted(entries, documents):
    said = read_labels(Reply(documents=entries), documents, NUGGETS)
    expected = {number: clear(entries, number) for number in range(1, documents + 1)}
    assert {number: list(found) for number, found in said.supports.items()} == {
        number: found for number, found in expected.items() if found is not None
    }
    assert set(said.faults) == {number for number, found in expected.items() if found is None}
    times = Counter(
        one.get("document") for one in entries if isinstance(one, dict) and type(one.get("document")) is int
    )
    assert said.unasked == len(entries) - sum(times[number] for number in range(1, documents + 1))
    assert bool(said.problem(NUGGETS)) == (not said.supports)


REPLIES = st.one_of(
    st.lists(ENTRY, max_size=9),
    st.sampled_from(["refused", "cut-off", "filtered", "400", "text"]),
    st.just("right"),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=12), st.integers(1, 12), st.integers(1, 7))
def test_each_document_is_labelled_as_the_reply_to_its_call_says_or_lacking(replies, documents, most):
    told = {}

    def script(call):
        reply = replies[len(told) % len(replies)] if call.request.digest not in told else told[call.request.digest]
        told[call.request.digest] = reply
        if isinstance(reply, str):
            said = {
                "refused": chat(None, refusal="No."),
                "cut-off": chat('{"documents": [{"document": 1, "reasoning": "r", "supports": [1]}', "length"),
                "filtered": error(400, "no", "content_filter"),
                "400": error(400, "Too long."),
                "text": "All documents support all nuggets.",
                "right": call.reply({text: [1] for text in call.documents}),
            }
            return said[reply]
        return written(reply)

    groups = [group(f"q{at}", [f"d{one}" for one in range(documents)], NUGGETS) for at in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        # one call that is answered, so that a 400 is about what is asked, and no error ends the run
        judge_ = Judge(lambda call: script(call) if call.documents != ("sure",) else call.reply({"sure": [1]}))
        asking = asked(Path(folder), judge_, set_to=set_to(documents=most), concurrency=1)
        found = judge(asking, [*groups, group("sure", ["sure"], NUGGETS)], Library())
        asking.close()
    shown = {(order.call_id, order.query_id): order.documents for order in found.orders}
    pairs = [(one.query_id, one.doc_id) for one in (*found.labels, *found.lacking)]
    wanted = [(one.query.query_id, doc_id) for one in groups for doc_id in one.doc_ids] + [("sure", "sure")]
    assert sorted(pairs) == sorted(wanted)  # each once
    for label in found.labels:
        documents_of_call = shown[label.call_id, label.query_id]
        number = documents_of_call.index(label.doc_id) + 1
        reply = told.get(label.call_id, "right")
        assert [at + 1 for at in label.supports] == ([1] if reply == "right" else clear(reply, number))
    counts = found.counts
    assert counts["labels"] + counts["lacking"] == counts["documents"] == len(wanted)
    assert counts["relevant"] == sum(1 for label in found.labels if label.supports)
    shown_to = {(one.query_id, one.documents) for one in found.orders}
    assert all(len(documents_of_call) <= most for _, documents_of_call in shown_to)
    if "400" not in told.values():  # else calls were made that nobody answered
        assert sum(len(one) for _, one in shown_to) == counts["documents"] + counts["asked_again"]


@given(st.lists(st.integers(1, 90), max_size=30), st.integers(1, 8), st.integers(1, 200), st.integers(0, 30))
def test_packs_keep_the_order_and_both_limits_and_are_as_full_as_can_be(sizes, most, limit, around):
    ids = [f"d{at}" for at in range(len(sizes))]
    tokens = dict(zip(ids, sizes, strict=True)).__getitem__
    packs = list(packed(ids, tokens, around, most, limit))
    assert [one for pack in packs for one in pack] == ids
    for pack, following in zip(packs, [*packs[1:], None][: len(packs)], strict=True):
        total = around + sum(map(tokens, pack))
        assert len(pack) <= most
        assert total <= limit or len(pack) == 1
        assert following is None or len(pack) == most or total + tokens(following[0]) > limit


@given(st.integers(1, 40), st.data())
def test_what_is_asked_again_is_less_each_time_and_nothing_is_left_out(asked_of, data):
    left = [f"d{at}" for at in range(data.draw(st.integers(0, asked_of)))]
    parts = parts_of(left, asked_of)
    assert [one for part in parts for one in part] == left
    assert all(0 < len(part) <= max(1, -(-asked_of // 2)) for part in parts)
    assert asked_of == 1 or all(len(part) < asked_of for part in parts)


def test_packing_by_hand():
    # 10 around; the most tokens 100, the most documents 3
    sizes = {"a": 30, "b": 30, "c": 30, "d": 31, "e": 200, "f": 1, "g": 1, "h": 1, "i": 1, "j": 59, "k": 30, "l": 1}
    # 10+30+30+30 = 100 fits; d; d with e does not fit, and e alone is too large, but alone; f g h are three; i j k are
    # 10+1+59+30 = 100; l
    packs = list(packed(list(sizes), sizes.__getitem__, 10, 3, 100))
    assert ["".join(pack) for pack in packs] == ["abc", "d", "e", "fgh", "ijk", "l"]
