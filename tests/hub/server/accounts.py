"""Who asks, and what they may see and change."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tests.hub.server.messages import Answer, RefusedError, Request, answer
from tests.hub.server.repository import Repository

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub


@dataclass(frozen=True)
class Account:
    """The owner of a token: what it may do in which names, and which gated repositories let it in."""

    name: str
    role: Literal["read", "write"] = "write"
    organizations: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()

    def owns(self, repository: str) -> bool:
        """Return whether a repository stands under the account's name or one of its organizations."""
        return self is EVERYBODY or repository.split("/")[0] in (self.name, *self.organizations)


EVERYBODY = Account("everybody")
"""Who asks a Hub that has no tokens; may do anything."""


def account(hub: "TestHub", request: Request) -> Account | None:
    """Return who asks, None when they do not say."""
    if not hub.tokens:
        return EVERYBODY
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind != "Bearer":
        return None
    if token not in hub.tokens:
        raise RefusedError(401, "Invalid credentials in Authorization header")
    return hub.tokens[token]


def visible(hub: "TestHub", request: Request, name: str) -> Repository:
    """Return a repository; a private one exists for its owners only."""
    who, repository = account(hub, request), hub.repos.get(name)
    if repository is None or (repository.private and not (who and who.owns(name))):
        raise RefusedError(404 if who else 401, "Repository not found", "RepoNotFound")
    return repository


def opened(hub: "TestHub", request: Request, name: str) -> Repository:
    """Return a repository whose files may be read by who asks."""
    who, repository = account(hub, request), visible(hub, request, name)
    if repository.gated and not (who and (who.owns(name) or name in who.granted)):
        raise RefusedError(403 if who else 401, f"Access to dataset {name} is restricted", "GatedRepo")
    return repository


def sending(hub: "TestHub", request: Request, name: str) -> Repository:
    """Return a repository that large files may be sent to: by everyone who may write, as it may be for a pull request."""
    who, repository = account(hub, request), visible(hub, request, name)
    if who is None:
        raise RefusedError(401, "Invalid username or password.")
    if who.role != "write":
        raise RefusedError(403, "You must use a write token to upload to a repository.")
    return repository


def writable(hub: "TestHub", request: Request, name: str) -> Repository:
    """Return a repository that may be changed by who asks; a pull request may be made by everyone who may write."""
    who, repository = account(hub, request), sending(hub, request, name)
    if not (who and who.owns(name)) and not request.says("create_pr"):
        raise RefusedError(403, f"You don't have the rights to create a commit on dataset {name}")
    return repository


def whoami(hub: "TestHub", request: Request) -> Answer:
    """Say who asks."""
    who = account(hub, request)
    if who is None:
        raise RefusedError(401, "Invalid username or password.")
    organizations = [{"name": name, "type": "org"} for name in who.organizations]
    token = {"accessToken": {"displayName": "test", "role": who.role}}
    return answer({"type": "user", "name": who.name, "orgs": organizations, "auth": token})
