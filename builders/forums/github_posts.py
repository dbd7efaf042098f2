"""What GitHub's API says of issues, discussions and their comments, typed: REST and GraphQL spell the same differently.

docs.github.com/rest/issues, docs.github.com/graphql/guides/using-the-graphql-api-for-discussions. What is not named here
is not read.
"""

import re
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from builders.forums.fields import BadEntryError
from builders.forums.rows import told

M = TypeVar("M", bound=BaseModel)


def _listed(value: object) -> object:
    """Return the nodes of a GraphQL connection as a list; a number of comments, as REST has it, is none of them."""
    if isinstance(value, dict):
        nodes = value.get("nodes")
        edges = value.get("edges")
        value = nodes if isinstance(nodes, list) else [edge.get("node") for edge in _objects(edges)]
    return [node for node in value if node is not None] if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def _name(value: object) -> object:
    return value.get("name") if isinstance(value, dict) else value


def _thumbs(value: object) -> object:
    """Return how many thumbs are up."""
    if isinstance(value, dict):
        return value.get("+1")
    for group in _objects(value):
        who = group.get("reactors") or group.get("users")
        if group.get("content") == "THUMBS_UP":
            return who.get("totalCount") if isinstance(who, dict) else None
    return 0 if isinstance(value, list) else None


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


_OF_COMMENT = re.compile(r"#(?:issue|discussion)comment-")


def _either(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names))


_Count = Annotated[int, Field(ge=0, le=10**9)]
_Votes = Annotated[_Count | None, BeforeValidator(_thumbs)]
_Number = Annotated[int, Field(ge=1, le=10**12)]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Author(_Said):
    """Who wrote a post.

    Args:
        login: The name.
        kind: Whether that is a User, a Bot or something else.
    """

    login: str
    kind: str | None = _either("type", "__typename")

    @property
    def is_bot(self) -> bool:
        """Whether no person wrote it."""
        return self.kind == "Bot" or self.login.endswith("[bot]")


class Category(_Said):
    """A category of discussions.

    Args:
        answerable: Whether an answer can be marked in it.
    """

    answerable: bool | None = _either("is_answerable", "isAnswerable")


class Repository(_Said):
    """A repository.

    Args:
        name: Its owner and its name.
    """

    name: str | None = _either("nameWithOwner", "full_name")


class _Post(_Said):
    """What all posts have in common."""

    id: int | str | None = None
    page: str | None = _either("html_url", "url")
    body: str | None = None
    html: str | None = _either("body_html", "bodyHTML")
    plain: str | None = _either("body_text", "bodyText")
    author: Author | None = _either("user", "author")
    date: str | None = _either("created_at", "createdAt", "publishedAt")
    association: str | None = _either("author_association", "authorAssociation")
    upvotes: _Count | None = _either("upvoteCount")
    thumbs: _Votes = _either("reactionGroups", "reactions")

    @property
    def score(self) -> int | None:
        """Upvotes, which discussions have, else thumbs up."""
        return self.thumbs if self.upvotes is None else self.upvotes


class Comment(_Post):
    """A comment.

    Args:
        database_id: Its number, where ``id`` is GraphQL's.
        issue_url: The address of its issue in the API.
        is_answer: Whether it is marked as the answer of its discussion.
        hidden: Whether it was hidden, as spam or as outdated.
        parent_id: The comment it replies to.
        replies: What was replied to it.
    """

    database_id: int | None = _either("databaseId")
    issue_url: str | None = None
    is_answer: bool | None = _either("isAnswer")
    hidden: bool | None = _either("isMinimized")
    parent_id: int | None = None
    replies: Annotated[list["Comment"], BeforeValidator(_listed)] = []


class Thread(_Post):
    """An issue, a discussion or a pull request.

    Args:
        number: Its number in its repository.
        title: Its title.
        labels: The names of its labels.
        state: Whether it is open or closed.
        closed: The same.
        state_reason: Why it was closed.
        pull_request: What only pull requests have.
        category: What only discussions have.
        answer: The comment that is marked as the answer.
        answer_page: The address of that comment.
        repository_url: The address of its repository in the API.
        repository: Its repository.
        comments: Its comments.
    """

    number: _Number
    title: str
    labels: Annotated[list[Annotated[str, BeforeValidator(_name)]], BeforeValidator(_listed)] = []
    state: Annotated[str | None, BeforeValidator(_lower)] = None
    closed: bool | None = None
    state_reason: Annotated[str | None, BeforeValidator(_lower)] = _either("state_reason", "stateReason")
    kind: str | None = _either("__typename")
    pull_request: dict[str, Any] | None = None
    category: Category | None = None
    answer: Comment | None = None
    answer_page: str | None = _either("answer_html_url")
    repository_url: str | None = None
    repository: Repository | None = None
    comments: Annotated[list[Comment], BeforeValidator(_listed)] = []

    @property
    def is_completed(self) -> bool:
        """Whether it is closed as done, as far as is known; issues closed before 2022 have no reason."""
        is_open = self.closed is False or self.state not in (None, "closed")
        return not is_open and self.state_reason in (None, "", "completed")


def is_thread(value: dict[str, Any]) -> bool:
    """Return whether an object of the API is an issue, a discussion or a pull request."""
    return "number" in value and "title" in value


def is_comment(value: dict[str, Any]) -> bool:
    """Return whether an object of the API is a comment on its own."""
    pages = (value.get("html_url"), value.get("url"))
    return "issue_url" in value or any(isinstance(page, str) and _OF_COMMENT.search(page) for page in pages)


def thread_of(value: dict[str, Any]) -> Thread:
    """Return an issue, a discussion or a pull request.

    Raises:
        BadEntryError: It is not what the API gives.
    """
    return _checked(Thread, value)


def comment_of(value: dict[str, Any]) -> Comment:
    """Return a comment.

    Raises:
        BadEntryError: It is not what the API gives.
    """
    return _checked(Comment, value)


def _checked(kind: type[M], value: dict[str, Any]) -> M:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        wrong = told(error)
        raise BadEntryError("not as the API gives it", f"{wrong.reason}: {wrong.detail}") from None
