"""What goes wrong between us and the Hub while we publish, and whether it may go away by itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from freshstack_datasets.errors import FreshStackError, HubError, shown
from freshstack_datasets.hub.words import told

PASSING = (408, 429, 500, 502, 503, 504)
"""Statuses that may be others a moment later."""
_MOVED = (409, 412)
"""Statuses that say: what you go by has changed; look again."""
_LIMITED = 429
_UNSAID = 60.0
"""Seconds to wait after too many requests when the Hub does not say how long."""


@dataclass(frozen=True)
class Trouble:
    """What went wrong.

    Args:
        error: In words, for when nothing helps.
        why: The same in a few words, while there is hope.
        passing: Whether it may go away by itself.
        moved: Whether somebody else changed the repository meanwhile.
        wait: Seconds to wait that the Hub asked for, None when it asked for none.
    """

    error: FreshStackError
    why: str = ""
    passing: bool = False
    moved: bool = False
    wait: float | None = None


def trouble(error: Exception, what: str, repository: str) -> Trouble:
    """Return what an error of a client of the Hub means.

    Args:
        error: What was raised.
        what: What was to be done, such as ``freshstack/langchain@2026-10 cannot be published``.
        repository: The repository that it is about.
    """
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # its name for whichever version it uses

    if isinstance(error, ValueError) and "metadata in README.md" in str(error):
        got = shown("; ".join(line.removeprefix("- ") for line in str(error).splitlines()[1:]))
        return Trouble(HubError(f"{what}: README.md", expected="metadata that the Hub takes", got=got))
    for cause in _causes(error):
        if isinstance(cause, HfHubHTTPError):
            status, headers = cause.response.status_code, cause.response.headers
            if status in _MOVED:
                got, hint = "changes by somebody else meanwhile", "see what they did, then run the command again"
                return Trouble(HubError(what, got=got, hint=hint), moved=True)
            why = "the Hub has too many requests" if status == _LIMITED else f"the Hub fails (status {status})"
            wait = _asked(headers)
            wait = _UNSAID if wait is None and status == _LIMITED else wait
            return Trouble(told(error, what, repository), why, passing=status in PASSING, wait=wait)
        if isinstance(cause, httpx.TransportError):
            why = f"the Hub does not answer ({type(cause).__name__})"
            return Trouble(told(error, what, repository), why, passing=True)
    return Trouble(told(error, what, repository))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, at most a few."""
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__


def _asked(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer asks to wait, by its ``RateLimit`` or its ``Retry-After``."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]  # it is put there late

    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = headers.get("Retry-After", "").strip()
    if after.isdecimal():
        return float(after[:9])
    try:  # a time, which is told from the answer's own, as clocks differ
        return (parsedate_to_datetime(after) - parsedate_to_datetime(headers["Date"])).total_seconds()
    except (KeyError, TypeError, ValueError):
        return None
