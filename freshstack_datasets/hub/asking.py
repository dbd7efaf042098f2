"""Asking the Hub with an end: who does not answer is given up soon, and who answered once is waited for.

The calls of the Hub's client that list and download either wait without end for a host that says nothing, or go on for
half a minute where nobody listens. So the first question to a Hub is one of ours. Once it was answered, whatever fails
in a download that began is tried again with the client's own patience.
"""

import contextlib
from typing import Any

_AGAIN = 2
"""Further attempts, after one second and after two, before a download where nobody listens."""

_answered: set[str] = set()
"""The Hubs that answered this process, whatever they said."""


def references(repository: str) -> dict[str, dict[str, str]]:
    """Ask, once, for the commits of a repository's ``tags`` and ``branches``, each by name.

    Raises:
        Exception: Whatever the client raises where there is no answer, or none of that kind.
    """
    response = _ask("GET", f"{repository}/refs", again=0)
    _client().hf_raise_for_status(response)
    told = response.json()
    return {kind: {ref["name"]: ref["targetCommit"] for ref in told[kind]} for kind in ("tags", "branches")}


def await_answer(repository: str) -> None:
    """See to it that the Hub answers before a download is begun; one that did is not asked again.

    Raises:
        Exception: Whatever the client raises where it does not.
    """
    from huggingface_hub import constants

    if constants.ENDPOINT not in _answered:
        httpx = _client().httpx
        with contextlib.suppress(
            httpx.ReadError, httpx.RemoteProtocolError
        ):  # it is there, and may do better next time
            _ask("HEAD", repository, again=_AGAIN)


def _ask(method: str, path: str, again: int) -> Any:
    """Return the Hub's answer, of any status, as the client's HTTP library has it."""
    from huggingface_hub import constants

    client = _client()
    response = client.http_backoff(
        method,
        f"{constants.ENDPOINT}/api/datasets/{path}",
        headers=client.build_hf_headers(),
        timeout=constants.HF_HUB_ETAG_TIMEOUT,  # ten seconds, unless people choose
        max_retries=again,
        retry_on_exceptions=client.httpx.ConnectError,
        retry_on_status_codes=(),
    )
    _answered.add(constants.ENDPOINT)
    return response


def _client() -> Any:
    """Return the client's module of tools, whose public names it does not declare as such to type checkers."""
    from huggingface_hub import utils

    return utils
