"""What stages that ask one call for each question have in common: what a call will cost, and what becomes of a failure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from builders.pipeline.asking import Asking
from builders.pipeline.records import Lacking
from builders.pipeline.settings import KindName
from builders.statistics.tokens import count
from freshstack_datasets.llm.estimates import StageEstimate, estimate_stage
from freshstack_datasets.llm.records import Answer, Failed, Reply, Request
from freshstack_datasets.llm.structure import FORMS, in_form

HTTP = "http-"
"""What the reasons begin with of calls that a server turned away, of whose replies nothing is kept."""


def estimated(
    asking: Asking, kind: KindName, requests: Iterable[Request], written: int, *, batch: bool = False
) -> StageEstimate:
    """Return what calls of a kind will cost if each is answered at once with what fits; nothing is sent.

    Args:
        asking: Who would ask.
        kind: The kind.
        requests: The calls.
        written: The tokens that a reply is expected to have.
        batch: Whether the calls go in a batch.

    Raises:
        InputError: The calls do not say how long a reply may be.
    """
    model = asking.kind(kind).model
    return estimate_stage(
        kind,
        asking.endpoint,
        model,
        (_as_answered(asking, request) for request in requests),
        asking.prices.known(model, batch=batch),
        answered=lambda digest: asking.store.get(digest, asking.endpoint) is not None,
        count=count,
        output_tokens=written,
    )


def calls_of(outcome: Answer[object] | Reply | Failed) -> tuple[str, ...]:
    """Return the ids of the calls that were made for an outcome, the oldest first."""
    if isinstance(outcome, Reply):
        return (outcome.digest,)
    return outcome.calls or ((outcome.digest,) if isinstance(outcome, Failed) else ())


def reasons(lacking: Sequence[Lacking]) -> str:
    """Return why things are lacking, with how often, the commonest first."""
    why = Counter(one.reason for one in lacking)
    return ", ".join(
        f"{number:,} {reason}" for reason, number in sorted(why.items(), key=lambda one: (-one[1], one[0]))
    )


def ask_again(lacking: Sequence[Lacking], stage: str) -> str:
    """Return what to do so that what a server turned away is asked again, to be put behind a warning; "" for nothing.

    Args:
        lacking: What the stage could not make.
        stage: The stage.
    """
    if not any(one.reason.startswith(HTTP) for one in lacking):
        return ""
    return f"; what the server turned away is asked again by the same command once the folder {stage} of the build is removed"


def _as_answered(asking: Asking, request: Request) -> Request:
    """Return a call in the form in which it was answered, or as it is asked first where it was not."""
    if request.schema is None:
        return request
    plain = replace(request, schema=None)
    forms = (in_form(plain, request.schema, form) for form in FORMS)
    return next((one for one in forms if asking.store.get(one.digest, asking.endpoint)), request)
