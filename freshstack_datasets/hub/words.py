"""What the Hub's clients say when something fails, as errors of ours: what is wrong, and what to do next."""

import errno
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from freshstack_datasets import catalog
from freshstack_datasets.errors import FreshStackError, HubError, shown, shown_path

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

log = logging.getLogger(__name__)

_TOKEN = "set HF_TOKEN, or run hf auth login"
PRIVATE = f"a private one needs a token: {_TOKEN}"
"""What there is to say of a repository that the Hub does not show."""


@contextmanager
def in_words(what: str, repository: str) -> Iterator[None]:
    """Turn what a client of the Hub raises into an error of ours.

    Args:
        what: What was to be done, such as ``freshstack/langchain@2026-10 cannot be downloaded``.
        repository: The repository that was asked.

    Raises:
        FreshStackError: What ``told`` makes of it.
    """
    try:
        with quiet():
            yield
    except FreshStackError:
        raise
    except Exception as error:  # three libraries, one of them compiled: there is no list of what they raise
        raise told(error, what, repository) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the client from telling of every attempt: what comes of them is told once, in our words.

    So is the first of its waits before it tries again, since whoever sees nothing for a while believes it broken.
    """
    client, waits = logging.getLogger("huggingface_hub.utils._http"), _Waits()
    client.addFilter(waits)
    try:
        yield
    finally:
        client.removeFilter(waits)


class _Waits(logging.Filter):
    """Lets no warning of attempts pass, and tells of the first wait."""

    told = False

    def filter(self, record: logging.LogRecord) -> bool:
        wait = re.match(r"Rate limited\. Waiting (\d+)|Retrying in", record.getMessage())
        if wait and not self.told:
            self.told = True
            seconds = f" in {wait[1]} seconds, when it takes requests again" if wait[1] else ""
            log.warning("the Hub does not answer yet; trying again%s", seconds)
        return record.levelno >= logging.ERROR


def told(error: BaseException, what: str, repository: str) -> FreshStackError:
    """Return the error that tells people what a client's error means.

    Args:
        error: The client's.
        what: What was to be done.
        repository: The repository that was asked.
    """
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # its name for whichever version it uses

    for cause in _causes(error):
        if isinstance(cause, errors.GatedRepoError):  # before the next, of which it is one
            return _gated(what, repository, str(constants.ENDPOINT))
        if isinstance(cause, errors.RepositoryNotFoundError | errors.HFValidationError):
            return _missing(what, repository)
        if isinstance(cause, errors.RevisionNotFoundError):
            got, hint = "no such commit or tag", "it was removed there; see whether another snapshot will do"
            return HubError(what, expected=f"it in {repository}", got=got, hint=hint)
        if isinstance(cause, errors.RemoteEntryNotFoundError):
            return HubError(what, expected=f"its files in {repository}", got="not all of them", hint="tell its owner")
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return HubError(what, got="HF_HUB_OFFLINE is set", hint="unset it and try again")
        if isinstance(cause, errors.HfHubHTTPError) and not _is_of_xet(cause):
            return _refused(what, repository, cause)
        if _is_of_xet(cause):
            hint = "try again, and if it stays so without xet: set HF_HUB_DISABLE_XET=1"
            return HubError(what, got=f"xet, which moves large files, failed: {_said(cause)}", hint=hint)
        if isinstance(cause, httpx.HTTPError):
            hint = f"check the connection{_endpoint(str(constants.ENDPOINT))}, and try again"
            return HubError(what, got=f"the Hub does not answer ({type(cause).__name__})", hint=hint)
    return _other(what, error)


def unanswered(error: BaseException) -> bool:
    """Tell whether a client's error means that the Hub gave no answer: it may yet, another time."""
    from huggingface_hub import errors
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # its name for whichever version it uses

    for cause in _causes(error):
        if isinstance(cause, errors.HfHubHTTPError):
            return _may_pass(cause.response.status_code)
        if isinstance(cause, errors.OfflineModeIsEnabled | httpx.HTTPError):
            return True
    return False


def is_missing(error: BaseException) -> bool:
    """Tell whether a client's error means that there is no such repository, or none that may be seen."""
    from huggingface_hub import errors

    return isinstance(error, errors.RepositoryNotFoundError) and not isinstance(error, errors.GatedRepoError)


def _may_pass(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from, at most a few."""
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _gated(what: str, repository: str, endpoint: str) -> HubError:
    from huggingface_hub import get_token

    got = "one of an account without it" if get_token() else "no token"
    hint = f"ask for it at {endpoint}/datasets/{repository}" + ("" if get_token() else f", then {_TOKEN}")
    return HubError(f"{what}: {repository} is gated", expected="a token of an account with access", got=got, hint=hint)


def _missing(what: str, repository: str) -> FreshStackError:
    shared = catalog.originals()
    release = (shared.corpus.repository, shared.queries.repository, shared.unfiltered.repository)
    if repository in (*release, *catalog.full_names()):
        return HubError(what, got=f"no repository {repository} on the Hub", hint=PRIVATE)
    return catalog.unknown(repository, PRIVATE)


def _refused(what: str, repository: str, error: "HfHubHTTPError") -> HubError:
    """Return the error for an answer that is none of the Hub's own kinds of refusal."""
    from huggingface_hub import get_token

    status = error.response.status_code
    if status == 401:
        got = "another" if get_token() else "none"
        return HubError(what, expected="a token that the Hub knows", got=got, hint=_TOKEN)
    if status == 403:
        got = shown(error.server_message or "no reason")[1:-1]
        return HubError(what, got=f"the Hub refuses it: {got}", hint=f"use a token that may do this: {_TOKEN}")
    if status == 429:
        wait = _wait(error.response.headers)
        hint = f"try again {f'in {wait} seconds' if wait is not None else 'in some minutes'}"
        hint += "" if get_token() else f"; with a token more requests are allowed: {_TOKEN}"
        return HubError(what, got="too many requests were made (429)", hint=hint)
    if _may_pass(status):
        return HubError(what, got=f"the Hub failed (status {status})", hint="try again later")
    said = shown(error.server_message or type(error).__name__)[1:-1]
    return HubError(
        what, got=f"status {status} of the Hub: {said}", hint=f"check that {repository} can be reached there"
    )


def _wait(headers: Mapping[str, str]) -> int | None:
    """Return the seconds after which the Hub will answer again, as it says; None when it does not."""
    reset = re.search(r"\bt=(\d{1,9})\b", headers.get("RateLimit", ""))
    after = re.fullmatch(r"\d{1,9}", headers.get("Retry-After", ""))
    return int(reset[1]) if reset else int(after[0]) if after else None


def _is_of_xet(error: BaseException) -> bool:
    """Tell whether moving files by xet failed, rather than that this was refused or has to wait."""
    response = getattr(error, "response", None)
    if response is not None:
        return "/xet-" in response.url.path and response.status_code not in (401, 403, 429)
    return type(error).__module__.partition(".")[0] == "hf_xet" or "xet" in str(error).lower()


def _said(error: BaseException) -> str:
    return shown(str(error).partition("\n")[0])[1:-1] or type(error).__name__


def _endpoint(endpoint: str) -> str:
    return f" to {endpoint}" if os.environ.get("HF_ENDPOINT") else ""


def _other(what: str, error: BaseException) -> HubError:
    """Return the error for what is no matter of the Hub, such as a full disk."""
    if isinstance(error, OSError) and error.errno is not None:
        place = f" at {shown_path(error.filename)}" if isinstance(error.filename, str) else ""
        hint = "set HF_HOME to another place" if error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS) else ""
        return HubError(what, got=f"{(error.strerror or 'an error').lower()}{place}", hint=hint)
    if isinstance(error, UnicodeEncodeError) and error.object.startswith("Bearer "):  # no header can hold the token
        got = "one with other characters"
        return HubError(what, expected="a token of plain letters and digits", got=got, hint=_TOKEN)
    if isinstance(error, ValueError | KeyError | TypeError | AttributeError):
        hint = "see whether a proxy or a login page answers instead of it; --verbose shows where this was found"
        return HubError(
            what, got=f"an answer that is none of a Hub ({type(error).__name__}: {_said(error)})", hint=hint
        )
    return HubError(what, got=f"{type(error).__name__}: {_said(error)}", hint="--verbose shows where")
