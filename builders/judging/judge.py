"""Asking a model what documents support, until each is judged or it is known why it is not.

Calls are made in rounds. What a reply does not say clearly of a document is asked again in the next one, with only such
documents; a call that was cut off, refused or answered with nothing that can be used is halved. So each call of a round
has fewer documents than the one that it comes of, and what comes of all is the same in whatever order replies arrive.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from builders.judging.calls import Desk, Pass
from builders.judging.packing import Documents, Texts
from builders.judging.records import Group, Judged
from builders.judging.rounds import COUNTS, Found
from builders.nuggets.calls import estimated as calls_estimated
from builders.pipeline.asking import Asking
from builders.pipeline.records import Label
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.llm.records import Request

WRITTEN = 80
"""Tokens that are expected to be written of a document: its number, two short sentences, and the labels."""

Carried = Mapping[tuple[str, str], Label]


def judge(
    asking: Asking,
    groups: Sequence[Group],
    corpus: Documents,
    *,
    known: Iterable[Label] = (),
    kind: Pass = "support",
) -> Judged:
    """Return which nuggets of their questions documents support.

    The counts are those of ``questions`` and ``documents`` of the groups, and of ``known`` labels among them; of
    ``calls``, answered before or not, with those that say what was wrong with a reply; of documents that were
    ``asked_again``, for a reply in which they were ``missing`` or stood ``twice``, with ``wrong_nuggets`` or
    ``unreadable``, or for a call that was ``halved``; of ``unasked`` labels; and of the ``labels``, the ``relevant``
    ones among them, which support a nugget, and the documents ``lacking``.

    Args:
        asking: Who asks.
        groups: What is judged; each question once.
        corpus: Where the documents are.
        known: Labels that are taken as they are, of the documents that are judged: these are not asked about.
        kind: The kind of call.

    Raises:
        InputError: A question has two groups, or a known label speaks of a nugget that there is not.
        UnknownNameError: The corpus lacks a document.
        BudgetError: The budget did not take all calls; what was answered is kept.
        EndpointError: The server answers no call, or calls are open that it may answer another time; all others were
            made, and what was answered is kept.
    """
    carried = _carried(groups, known)
    found = Found()
    if left := _left(groups, carried):
        with Texts(corpus, _doc_ids(left), asking.store.path) as texts:
            _ask(asking, Desk(asking, kind, texts), left, found)
    labels = sorted([*carried.values(), *found.labels], key=lambda label: (label.query_id, label.doc_id))
    told = {
        "questions": len(groups),
        "documents": sum(len(group.doc_ids) for group in groups),
        "known": len(carried),
        "labels": len(labels),
        "relevant": sum(bool(label.supports) for label in labels),
        "lacking": len(found.lacking),
        **{name: found.counts[name] for name in COUNTS},
    }
    lacking = sorted(found.lacking, key=lambda one: (one.query_id, one.doc_id))
    orders = sorted(set(found.orders), key=lambda one: (one.query_id, one.call_id, one.documents))
    return Judged(tuple(labels), tuple(lacking), tuple(orders), told)


def estimated(
    asking: Asking,
    groups: Sequence[Group],
    corpus: Documents,
    *,
    known: Iterable[Label] = (),
    kind: Pass = "support",
    batch: bool = False,
) -> StageEstimate:
    """Return what ``judge`` will cost if no reply is at fault; nothing is sent.

    Args:
        asking: Who would ask.
        groups: What would be judged.
        corpus: Where the documents are.
        known: Labels that are taken as they are.
        kind: The kind of call.
        batch: Whether the calls go in batches.

    Raises:
        InputError: As ``judge`` says.
        UnknownNameError: The corpus lacks a document.
    """
    left = _left(groups, _carried(groups, known))
    with Texts(corpus, _doc_ids(left), asking.store.path) as texts:
        desk = Desk(asking, kind, texts)
        packs = [pack for group in left for pack in desk.packs(group)]
        documents = sum(len(pack.doc_ids) for pack in packs)
        written = -(-documents * WRITTEN // max(1, len(packs)))
        return calls_estimated(asking, kind, map(desk.request, packs), written, batch=batch)


def first_calls(
    asking: Asking,
    groups: Sequence[Group],
    corpus: Documents,
    *,
    known: Iterable[Label] = (),
    kind: Pass = "support",
) -> Iterator[Request]:
    """Yield the calls that ``judge`` makes first; what it makes next depends on their replies.

    Args:
        asking: Who would ask.
        groups: What would be judged.
        corpus: Where the documents are.
        known: Labels that are taken as they are.
        kind: The kind of call.

    Raises:
        InputError: As ``judge`` says.
        UnknownNameError: The corpus lacks a document.
    """
    left = _left(groups, _carried(groups, known))
    with Texts(corpus, _doc_ids(left), asking.store.path) as texts:
        desk = Desk(asking, kind, texts)
        yield from (desk.request(pack) for group in left for pack in desk.packs(group))


def _ask(asking: Asking, desk: Desk, groups: Sequence[Group], found: Found) -> None:
    packs, what = [pack for group in groups for pack in desk.packs(group)], "judging documents"
    while packs:
        results = asking.all([partial(desk.ask, pack) for pack in packs], what, "calls")
        packs = [part for pack, result in zip(packs, results, strict=True) for part in found.take(pack, result)]
        packs += found.end_round()
        what = "judging documents once more"
    asking.refuse_open(found.passing, len(found.passing) + len(found.orders))


def _carried(groups: Sequence[Group], known: Iterable[Label]) -> Carried:
    """Return the known labels of the documents to judge."""
    nuggets: dict[str, set[int]] = {}
    for group in groups:
        if group.query.query_id in nuggets:
            what = f"documents to judge for the question {shown(group.query.query_id)}"
            raise InputError(what, expected="one group", got="two")
        nuggets[group.query.query_id] = {nugget.position for nugget in group.nuggets}
    wanted = {(group.query.query_id, doc_id) for group in groups for doc_id in group.doc_ids}
    carried = {pair: label for label in known if (pair := (label.query_id, label.doc_id)) in wanted}
    for label in carried.values():
        if wrong := set(label.supports) - nuggets[label.query_id]:
            what = f"what is known of {shown(label.doc_id)} and the question {shown(label.query_id)}"
            raise InputError(what, expected="positions of its nuggets", got=shown(min(wrong)))
    return carried


def _left(groups: Sequence[Group], carried: Carried) -> list[Group]:
    """Return what is to be asked about."""
    left = [(group, [one for one in group.doc_ids if (group.query.query_id, one) not in carried]) for group in groups]
    return [Group(group.query, group.nuggets, tuple(doc_ids)) for group, doc_ids in left if doc_ids]


def _doc_ids(groups: Sequence[Group]) -> Iterable[str]:
    return (doc_id for group in groups for doc_id in group.doc_ids)
