"""GitHub's issues and discussions, saved as the JSON of its API.

Read are issues and their comments (``gh api --paginate repos/OWNER/REPO/issues?state=all``, ``…/issues/comments``),
discussions and their comments (``…/discussions``, ``…/discussions/NUMBER/comments``), and what GraphQL gives of both
(``gh api graphql --paginate``): one array or several, arrays of pages (``--slurp``), one object a line, one file or the
files of a folder, comments before or after what they are about. Asked of GraphQL at the least: ``number``, ``title``,
``body``, ``url``, ``createdAt``, ``upvoteCount``, ``author { login __typename }``, ``category { isAnswerable }``,
``answer { url }`` and ``comments { nodes { … } }`` with the same.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from builders.forums.fields import BadEntryError, line
from builders.forums.files import Files
from builders.forums.gathering import Gathering
from builders.forums.github_posts import Comment, Thread, comment_of, is_comment, is_thread, thread_of
from builders.forums.github_threads import Spot, comments_of, kept_comment, kept_thread, question_of, why_no_answer
from builders.forums.values import Value, parsed, values
from builders.html.text import html_parser
from builders.questions.records import Question, Read, Skipped
from freshstack_datasets.errors import shown

MALFORMED = "malformed entries"
"""What entries are counted as that are wrong in themselves, with what is wrong."""

TWICE = "issues and discussions that came twice"
ON_PULLS = "comments on pull requests"
_DEPTH = 12
_MOST_REPOSITORIES = 2


class GitHub:
    """The questions among issues and discussions.

    All wait on disk until every file is read, since comments come on their own. Something that comes twice, as from
    pages that moved while they were fetched, is taken once.

    Args:
        files: The files.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._counts: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._homes: set[str] = set()

    def entries(self) -> Iterator[Question | Skipped]:
        """Yield every question, and all that is none and not known to be something else.

        Raises:
            InputError: A file cannot be read.
            MissingExtraError: selectolax is not installed.
        """
        html_parser()
        self._counts.clear()
        self._left_out.clear()
        self._homes.clear()
        with Gathering() as gathered:
            for entry in self._entries(gathered):
                self._counts["questions" if isinstance(entry, Question) else "skipped"] += 1
                yield entry

    def source(self) -> Read:
        """Return what was read."""
        home = next(iter(self._homes)) if len(self._homes) == 1 else ""
        counts = {"bytes": self._files.size, **self._counts}
        return Read(self._files.name, self._files.sha256, counts, url=home, unlisted=dict(self._left_out))

    def _entries(self, gathered: Gathering) -> Iterator[Question | Skipped]:
        for path in self._files.paths:
            for value in values(self._files.blocks(path)):
                yield from self._value(value, self._files.place(path, f"entry {value.number}"), gathered)
        for thread, comments in gathered.matched():
            yield from self._matched(thread, comments)
        for stray in gathered.strays():
            detail = f"nothing is there of {shown(stray['of'])}"
            yield Skipped(stray["part"], stray["place"], "comments without their issue or discussion", detail)

    def _value(self, value: Value, place: str, gathered: Gathering) -> Iterator[Skipped]:
        self._counts["entries"] += 1
        try:
            if value.wrong:
                raise BadEntryError(value.wrong)
            said = parsed(value.data)
            if not isinstance(said, dict):
                raise BadEntryError("no JSON object", shown(said))
        except BadEntryError as wrong:
            yield Skipped("", place, wrong.among(MALFORMED), wrong.detail)
            return
        found = 0
        for found, (thing, around) in enumerate(_things(said, None), 1):  # noqa: B007 - their number is wanted after the loop
            try:
                self._take(thing, around, place, gathered)
            except BadEntryError as wrong:
                yield Skipped(_visible(thing), place, wrong.among(MALFORMED), wrong.detail)
        if said.get("errors") or not found:
            yield _unusable(said, place, found)

    def _take(self, thing: dict[str, Any], around: str | None, place: str, gathered: Gathering) -> None:
        if is_thread(thing):
            thread = thread_of(thing)
            key, kept = kept_thread(thread, around, place)
            self._keep_thread(thread, key, kept, gathered)
        else:
            self._keep_comment(comment_of(thing), place, gathered)

    def _keep_thread(self, thread: Thread, key: str, kept: dict[str, Any], gathered: Gathering) -> None:
        comments = [kept_comment(comment, kept["host"]) for comment in comments_of(thread)]
        if not gathered.add_question(key, kept):
            self._counts[TWICE] += 1
        elif kept["left_out"]:
            self._left_out[kept["left_out"]] += 1
        elif len(self._homes) < _MOST_REPOSITORIES:
            name = kept["repository"].removeprefix(f"{kept['host']}/")
            self._homes.add(f"https://{kept['host']}/{name}")
        for part, said in comments:
            gathered.add_answer(key, f"{key} {part}", {**said, "place": kept["place"], "of": key})

    def _keep_comment(self, comment: Comment, place: str, gathered: Gathering) -> None:
        page = Spot.of(comment.page)
        spot = Spot.of(comment.issue_url) or page
        if spot is None or not spot.number:
            raise BadEntryError("a comment of no known issue or discussion", "it has no html_url and no issue_url")
        if "pull" in (spot.kind, page.kind if page else ""):
            self._counts[ON_PULLS] += 1
            return
        part, said = kept_comment(comment, spot.host)
        kept = {**said, "place": place, "of": spot.key, "is_reply": comment.parent_id is not None}
        gathered.add_answer(spot.key, f"{spot.key} {part}", kept)

    def _matched(self, thread: dict[str, Any], comments: list[dict[str, Any]]) -> Iterator[Question | Skipped]:
        if thread["left_out"]:
            return
        answers = []
        for comment in comments:
            if comment.get("is_reply") and comment["part"] != thread["accepted"]:
                continue
            why = why_no_answer(thread, comment)
            self._counts[why or "answers"] += 1
            if not why:
                answers.append(comment)
        try:
            yield question_of(thread, comments, answers)
        except BadEntryError as wrong:
            yield Skipped(thread["id"], thread["place"], wrong.among(MALFORMED), wrong.detail)


def _things(value: object, around: str | None, depth: int = 0) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Yield issues, discussions and comments wherever they are in a page, with the repository that they are in."""
    if isinstance(value, dict):
        if is_thread(value) or is_comment(value):
            yield value, around
            return
        name = value.get("nameWithOwner")
        around = name if isinstance(name, str) else around
        value = list(value.values())
    if isinstance(value, list) and depth < _DEPTH:
        for member in value:
            yield from _things(member, around, depth + 1)


def _unusable(said: dict[str, Any], place: str, found: int) -> Skipped:
    """Return what to say of an object in which there is nothing, or that the API answered with an error."""
    errors = said.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else said
    message = first.get("message") if isinstance(first, dict) else None
    if errors or message:
        return Skipped("", place, "errors that the API answered with", shown(message or errors))
    return Skipped(
        "", place, "entries that are neither issue, discussion nor comment", f"its keys are {shown(list(said))}"
    )


def _visible(thing: dict[str, Any]) -> str:
    found = thing.get("number", thing.get("id"))
    return line(str(found)[:100]) if isinstance(found, int | str) and not isinstance(found, bool) else ""
