"""What becomes of GitHub's issues and discussions: which are questions, and which comments are answers.

A discussion's answer is the comment that is marked so; its score are its upvotes. No comment of an issue is marked, so
no answer of one counts as accepted: who wants issues sets ``answer: best`` in the topic, and the comment with the most
thumbs up is taken. Only issues closed as completed are questions, and only comments of maintainers (owners, members,
collaborators) other than who asked are answers: among the rest, thumbs up mean "me too" as often as "that helped".
Posts of bots and hidden comments are left out, also where one is marked as the answer: the questions of people deserve
answers of people.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from builders.forums.fields import BadEntryError, address, body, day, identifier, line
from builders.forums.github_posts import Author, Comment, Thread
from builders.forums.rows import with_answers
from builders.questions.records import Answer, Question

PULLS = "pull requests"
BY_BOTS = "issues and discussions by bots"
NOT_DONE = "issues that are not closed as completed"
NO_ANSWERS = "discussions in categories without answers"
COMMENTS_BY_BOTS = "comments by bots"
HIDDEN = "hidden comments"
BY_OTHERS = "comments on issues by others than maintainers"
BY_ASKER = "comments on issues by who asked"

_MAINTAINERS = ("OWNER", "MEMBER", "COLLABORATOR")
_HOST = r"(?P<host>[A-Za-z0-9.:-]{1,200}?)"
_NAME = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"
_PAGE = re.compile(
    rf"https?://{_HOST}/(?P<repository>{_NAME})/(?P<kind>issues|discussions|pull)/(?P<number>[0-9]{{1,12}})"
    r"(?:#(?P<part>[A-Za-z0-9_-]{1,100}))?"
)
_API = re.compile(
    rf"https?://(?:api\.)?{_HOST}(?:/api/v3)?/repos/(?P<repository>{_NAME})"
    r"(?:/(?P<kind>issues|discussions|pulls)/(?P<number>[0-9]{1,12}))?"
)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a post is.

    Args:
        host: The host, ``github.com`` or a company's own.
        repository: Owner and name of the repository, or ``orgs/`` and an organisation.
        number: The number of the issue or discussion, "" for the repository.
        kind: issues, discussions or pull.
        part: The comment within the page, "" for the whole.
    """

    host: str
    repository: str
    number: str = ""
    kind: str = ""
    part: str = ""

    @classmethod
    def of(cls, *addresses: str | None) -> "Spot | None":
        """Return what the first address says that says anything; None when none does."""
        for text in addresses:
            found = text and (_API.fullmatch(text) or _PAGE.fullmatch(text))
            if found:
                parts = {name: value or "" for name, value in found.groupdict().items()}
                return cls(**{**parts, "kind": parts["kind"].replace("pulls", "pull")})
        return None

    @property
    def named(self) -> str:
        """The repository in front of ids: with its host where that is not GitHub's own."""
        return self.repository if self.host == "github.com" else f"{self.host}/{self.repository}"

    @property
    def key(self) -> str:
        """What comments and their issue or discussion have in common."""
        return f"{self.host}/{self.repository}#{self.number}".lower()


def kept_thread(thread: Thread, around: str | None, place: str) -> tuple[str, dict[str, Any]]:
    """Return the key of an issue or discussion, and what is to be known of it.

    Args:
        thread: What the API says.
        around: The repository that it was found in, where the page says so.
        place: Where it was found, for people.

    Raises:
        BadEntryError: It cannot be told which repository it is of, or a date or an address is none.
    """
    spot = Spot.of(thread.page) or _spot_without_page(thread, around)
    kind = _kind(thread, spot)
    name = spot.named
    return spot.key, {
        "id": identifier(f"{name}#{thread.number}"),
        "repository": name,
        "host": spot.host,
        "is_issue": kind == "issues",
        "left_out": _why_left_out(thread, kind),
        "title": line(thread.title),
        "tags": list(dict.fromkeys(tag for tag in map(line, thread.labels) if tag)),
        "accepted": _accepted(thread),
        "place": place,
        **_said(thread, spot.host),
    }


def comments_of(thread: Thread) -> Iterator[Comment]:
    """Yield the comments that came with a discussion or an issue: replies to comments only when marked as the answer."""
    yield from thread.comments
    marked = _marked(thread)
    if marked is not None and marked not in thread.comments and (marked is not thread.answer or _says(marked)):
        yield marked


def kept_comment(comment: Comment, host: str) -> tuple[str, dict[str, Any]]:
    """Return the key of a comment within its page, and what is to be known of it.

    Raises:
        BadEntryError: It has no id, or a date or an address is none.
    """
    part = _part(comment)
    left_out = HIDDEN if comment.hidden else COMMENTS_BY_BOTS if comment.author and comment.author.is_bot else ""
    return part, {
        "part": part,
        "left_out": left_out,
        "association": comment.association,
        **_said(comment, host),
    }


def why_no_answer(thread: dict[str, Any], comment: dict[str, Any]) -> str:
    """Return why a comment is no answer to its issue or discussion, "" when it is."""
    if comment["left_out"] or not thread["is_issue"]:
        return str(comment["left_out"])
    if comment["association"] is not None and comment["association"] not in _MAINTAINERS:
        return BY_OTHERS
    return BY_ASKER if comment["author"] is not None and comment["author"] == thread["author"] else ""


def question_of(thread: dict[str, Any], comments: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Question:
    """Return an issue or a discussion as a question.

    Args:
        thread: What is known of it.
        comments: All its comments.
        answers: Those that are answers.

    Raises:
        BadEntryError: The comment that is marked as the answer is missing.
    """
    left_out = {comment["part"] for comment in comments} - {answer["part"] for answer in answers}
    accepted = thread["accepted"] if thread["accepted"] not in left_out else ""
    question = Question(
        question_id=thread["id"],
        title=thread["title"],
        body=thread["text"],
        tags=tuple(thread["tags"]),
        date=thread["date"],
        score=thread["score"],
        url=thread["url"],
        author=thread["author"],
        license=None,
        answers=(),
        place=thread["place"],
    )
    found = [_answer(thread["repository"], answer) for answer in answers]
    return with_answers(question, f"{thread['repository']}#{accepted}" if accepted else "", found)


def _answer(repository: str, comment: dict[str, Any]) -> Answer:
    return Answer(
        answer_id=identifier(f"{repository}#{comment['part']}"),
        text=comment["text"],
        score=comment["score"],
        date=comment["date"],
        author=comment["author"],
        url=comment["url"],
    )


def _said(post: Thread | Comment, host: str) -> dict[str, Any]:
    text = body(post.body) if post.body is not None else body(post.html, "html") if post.html else body(post.plain)
    return {
        "text": text,
        "score": post.score,
        "date": day(post.date),
        "author": _profile(post.author, host),
        "url": None if post.page and _API.fullmatch(post.page) else address(post.page),
    }


def _profile(author: Author | None, host: str) -> str | None:
    login = line(author.login) if author else ""
    return f"https://{host}/{login}" if login else None


def _spot_without_page(thread: Thread, around: str | None) -> Spot:
    found = Spot.of(thread.repository_url)
    name = (thread.repository.name if thread.repository else None) or around or (found and found.repository)
    if not name or not re.fullmatch(_NAME, name):
        raise BadEntryError("an issue or discussion of no known repository", "it has no url and no nameWithOwner")
    return Spot(found.host if found else "github.com", name, str(thread.number))


def _kind(thread: Thread, spot: Spot) -> str:
    if thread.pull_request or thread.kind == "PullRequest":
        return "pull"
    if spot.kind:
        return spot.kind
    of_discussion = {"category", "answer", "answer_page", "upvotes"} & thread.model_fields_set
    return "discussions" if of_discussion or thread.kind == "Discussion" else "issues"


def _why_left_out(thread: Thread, kind: str) -> str:
    if kind == "pull":
        return PULLS
    if thread.author and thread.author.is_bot:
        return BY_BOTS
    if kind == "issues":
        return "" if thread.is_completed else NOT_DONE
    return NO_ANSWERS if thread.category and thread.category.answerable is False else ""


def _accepted(thread: Thread) -> str:
    """Return which comment is marked as the answer, "" when none is."""
    marked = _marked(thread)
    if marked is not None:
        return _part(marked)
    found = Spot.of(thread.answer_page)
    return found.part if found else ""


def _marked(thread: Thread) -> Comment | None:
    """Return the comment that is marked as the answer, also one that replies to another; None when none came along."""
    for comment in thread.comments:
        for post in (comment, *comment.replies):
            if _is_answer(post, thread):
                return post
    return thread.answer


def _says(comment: Comment) -> bool:
    """Return whether a text came along with a comment."""
    return any(text is not None for text in (comment.body, comment.html, comment.plain))


def _is_answer(comment: Comment, thread: Thread) -> bool:
    answer = thread.answer
    same = answer is not None and ((answer.id is not None and answer.id == comment.id) or _same_page(answer, comment))
    return bool(comment.is_answer) or same


def _same_page(one: Comment, other: Comment) -> bool:
    return one.page is not None and one.page == other.page


def _part(comment: Comment) -> str:
    """Return what a comment is called within its page: ``issuecomment-1``, or its id where no address says so."""
    spot = Spot.of(comment.page)
    if spot is not None and spot.part:
        return spot.part
    number = comment.database_id if comment.database_id is not None else comment.id
    if number is None:
        raise BadEntryError("a comment without an id", "it has no url, databaseId or id")
    return f"comment-{number}" if isinstance(number, int) else identifier(number)
