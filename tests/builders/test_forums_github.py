"""Issues and discussions as GitHub's API gives them: which are questions, and which comments answer them."""

import gzip
import hashlib
import json

import pytest

from builders.forums import is_forum, open_forum
from builders.forums.files import BLOCK
from builders.questions.records import Answer, Question, Skipped
from builders.questions.rules import NO_ANSWER, UNANSWERED, Rules
from freshstack_datasets.errors import InputError

API = "https://api.github.com/repos/octocat/Hello-World"
HOME = "https://github.com/octocat/Hello-World"


def user(login, kind="User"):
    return {
        "login": login,
        "id": 1,
        "node_id": "MDQ6VXNlcjE=",
        "url": f"https://api.github.com/users/{login}",
        "html_url": f"https://github.com/{login}",
        "type": kind,
        "site_admin": False,
    }


def thumbs(up):
    return {"url": f"{API}/issues/1/reactions", "total_count": up + 3, "+1": up, "-1": 1, "heart": 2}


def issue(number, **changes):
    """Make an issue as the REST API lists it, in the fields of its documented example."""
    return {
        "url": f"{API}/issues/{number}",
        "repository_url": API,
        "html_url": f"{HOME}/issues/{number}",
        "id": 1000 + number,
        "node_id": "MDU6SXNzdWUx",
        "number": number,
        "title": "Found a bug",
        "user": user("asker"),
        "labels": [{"id": 208045946, "name": "bug", "color": "f29513", "default": True}],
        "state": "closed",
        "state_reason": "completed",
        "locked": True,
        "assignee": None,
        "milestone": {"number": 1, "title": "v1.0", "html_url": f"{HOME}/milestones/v1.0"},
        "comments": 2,
        "created_at": "2011-04-22T13:33:48Z",
        "closed_at": None,
        "author_association": "NONE",
        "body": "I'm having a problem with this.\r\nIt is *slow*.",
        "reactions": thumbs(2),
        **changes,
    }


def comment(number, comment_id, login="maintainer", association="MEMBER", up=1, page="issues", **changes):
    """Make a comment as ``repos/OWNER/REPO/issues/comments`` lists it; of pull requests too."""
    return {
        "id": comment_id,
        "node_id": "MDEyOklzc3VlQ29tbWVudDE=",
        "url": f"{API}/issues/comments/{comment_id}",
        "html_url": f"{HOME}/{page}/{number}#issuecomment-{comment_id}",
        "issue_url": f"{API}/issues/{number}",
        "body": f"Me {comment_id}",
        "user": user(login) if login else None,
        "created_at": "2011-04-23T13:33:48Z",
        "author_association": association,
        "reactions": thumbs(up),
        **changes,
    }


def node(number, **changes):
    """Make a discussion as GraphQL gives it."""
    return {
        "number": number,
        "title": "How to?",
        "body": "Body\r\nof it",
        "url": f"{HOME}/discussions/{number}",
        "createdAt": "2023-05-06T07:08:09Z",
        "upvoteCount": 5,
        "author": {"login": "asker", "__typename": "User"},
        "labels": {"nodes": [{"name": "help"}, {"name": "docs"}]},
        "category": {"name": "Q&A", "isAnswerable": True},
        "answerChosenAt": None,
        "answer": None,
        "comments": {"totalCount": 0, "nodes": []},
        **changes,
    }


def reply(number, comment_id, upvotes=1, **changes):
    """Make a comment of a discussion as GraphQL gives it."""
    return {
        "id": f"DC_{comment_id}",
        "databaseId": comment_id,
        "url": f"{HOME}/discussions/{number}#discussioncomment-{comment_id}",
        "body": f"Try {comment_id}",
        "createdAt": "2023-05-07T07:08:09Z",
        "upvoteCount": upvotes,
        "isAnswer": False,
        "author": {"login": "helper", "__typename": "User"},
        "replies": {"nodes": []},
        **changes,
    }


def page(*nodes, **beside):
    found = {"nameWithOwner": "octocat/Hello-World", "discussions": {"pageInfo": {"hasNextPage": True}, "nodes": nodes}}
    return {"data": {"repository": found}, **beside}


@pytest.fixture
def saved(tmp_path):
    """Write a file of values that follow one another, as the command line prints pages."""

    def write(*values, name="saved.json"):
        (tmp_path / name).write_text("".join(map(json.dumps, values)), encoding="utf-8")
        return tmp_path / name

    return write


def read(path):
    door = open_forum(path)
    return list(door.entries()), door.source()


def test_an_issue_with_its_comments_is_a_question(saved):
    path = saved(
        [
            issue(12, labels=[{"name": "bug"}, "old style", {"name": "bug"}]),
            comment(12, 501, up=3),
            comment(12, 502, login=None, association="OWNER", up=0, created_at="2011-04-22T23:00:00Z"),
        ]
    )
    (found,), source = read(path)
    assert found == Question(
        question_id="octocat/Hello-World#12",
        title="Found a bug",
        body="I'm having a problem with this.\nIt is *slow*.",
        tags=("bug", "old style"),
        date="2011-04-22T13:33:48Z",
        score=2,
        url="https://github.com/octocat/Hello-World/issues/12",
        author="https://github.com/asker",
        license=None,
        answers=(
            Answer(
                "octocat/Hello-World#issuecomment-502",
                "Me 502",
                0,
                "2011-04-22T23:00:00Z",
                None,
                "https://github.com/octocat/Hello-World/issues/12#issuecomment-502",
            ),
            Answer(
                "octocat/Hello-World#issuecomment-501",
                "Me 501",
                3,
                "2011-04-23T13:33:48Z",
                "https://github.com/maintainer",
                "https://github.com/octocat/Hello-World/issues/12#issuecomment-501",
            ),
        ),
        place="entry 1",
    )
    assert source.url == "https://github.com/octocat/Hello-World"
    assert source.counts == {"bytes": path.stat().st_size, "entries": 3, "questions": 1, "answers": 2}


def test_no_answer_of_an_issue_counts_as_accepted_and_the_best_one_is_the_maintainers_with_most_thumbs_up(saved):
    path = saved(
        [
            issue(1),
            comment(1, 10, "passer-by", "NONE", up=90),
            comment(1, 11, "friend", "CONTRIBUTOR", up=80),
            comment(1, 12, "asker", "MEMBER", up=70),
            comment(1, 13, "colleague", "COLLABORATOR", up=4),
            comment(1, 14, "maintainer", "MEMBER", up=5),
            comment(1, 15, "boss", "OWNER", up=5, created_at="2012-01-01T00:00:00Z"),
        ]
    )
    (found,), source = read(path)
    assert Rules().answer_of(found) == UNANSWERED
    best = Rules(answer="best").answer_of(found)
    assert isinstance(best, Answer)
    assert best.answer_id.endswith("-14")
    assert source.counts["comments on issues by others than maintainers"] == 2
    assert source.counts["comments on issues by who asked"] == 1
    assert Rules(answer="best", min_answer_score=6).answer_of(found) == NO_ANSWER


def test_only_issues_that_are_closed_as_completed_are_questions(saved):
    path = saved(
        [
            issue(1, state="open", state_reason=None),
            issue(2, state="open", state_reason="reopened"),
            issue(3, state_reason="not_planned"),
            issue(4, state_reason="duplicate"),
            issue(5, state_reason=None),  # closed before there were reasons
            comment(1, 10),
            comment(3, 11),
        ]
    )
    (found,), source = read(path)
    assert found.question_id.endswith("#5")
    assert source.unlisted["issues that are not closed as completed"] == 4


def test_pull_requests_and_their_comments_are_dropped_and_counted(saved):
    pull = issue(2, html_url=f"{HOME}/pull/2", pull_request={"url": f"{API}/pulls/2", "merged_at": None})
    path = saved([issue(1), pull, comment(2, 10, page="pull"), comment(9, 11, page="pull")])
    (found,), source = read(path)
    assert found.question_id.endswith("#1")
    assert (source.unlisted["pull requests"], source.counts["comments on pull requests"]) == (1, 2)


def test_what_bots_wrote_and_what_is_hidden_is_left_out(saved):
    by_bot = {"author": {"login": "helpful", "__typename": "Bot"}}
    nodes = [
        node(1, **by_bot),
        node(
            2, comments={"nodes": [reply(2, 20, **by_bot, isAnswer=True), reply(2, 21, isMinimized=True), reply(2, 22)]}
        ),
    ]
    path = saved(
        page(*nodes), [issue(3, user=user("renovate[bot]", "Bot")), issue(4), comment(4, 40, "stale[bot]", "NONE", 9)]
    )
    (discussion, about), source = read(path)
    assert [answer.answer_id for answer in discussion.answers] == ["octocat/Hello-World#discussioncomment-22"]
    assert not discussion.answers[0].accepted
    assert about.answers == ()
    assert source.unlisted["issues and discussions by bots"] == 2
    assert (source.counts["comments by bots"], source.counts["hidden comments"]) == (2, 1)


def test_a_discussion_has_the_answer_that_is_marked_in_it(saved):
    marked = reply(7, 71, upvotes=2)
    found = node(7, answer={"id": "DC_71"}, comments={"nodes": [reply(7, 70, upvotes=9), marked]})
    (question,), source = read(saved(page(found)))
    assert question == Question(
        question_id="octocat/Hello-World#7",
        title="How to?",
        body="Body\nof it",
        tags=("help", "docs"),
        date="2023-05-06T07:08:09Z",
        score=5,
        url="https://github.com/octocat/Hello-World/discussions/7",
        author="https://github.com/asker",
        license=None,
        answers=(
            Answer(
                "octocat/Hello-World#discussioncomment-70",
                "Try 70",
                9,
                "2023-05-07T07:08:09Z",
                "https://github.com/helper",
                "https://github.com/octocat/Hello-World/discussions/7#discussioncomment-70",
            ),
            Answer(
                "octocat/Hello-World#discussioncomment-71",
                "Try 71",
                2,
                "2023-05-07T07:08:09Z",
                "https://github.com/helper",
                "https://github.com/octocat/Hello-World/discussions/7#discussioncomment-71",
                accepted=True,
            ),
        ),
        place="entry 1",
    )
    assert source.counts["answers"] == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"comments": {"nodes": [reply(7, 70), reply(7, 71, isAnswer=True)]}},
        {"comments": {"edges": [{"node": reply(7, 70)}, {"node": reply(7, 71)}]}, "answer": {"url": reply(7, 71)["url"]}},
        {"comments": {"nodes": [reply(7, 70)]}, "answer": reply(7, 71)},  # of more comments than were asked for
        {"comments": {"nodes": [reply(7, 70, replies={"nodes": [reply(7, 72), reply(7, 71, isAnswer=True)]})]}},
        {"comments": {"nodes": [reply(7, 70, replies={"nodes": [reply(7, 72), reply(7, 71)]})]}, "answer": {"id": "DC_71"}},
        {"comments": {"nodes": [None, reply(7, 70), reply(7, 71)]}, "answer": reply(7, 71)},
    ],
)  # fmt: skip
def test_the_marked_answer_is_found_wherever_it_is_and_other_replies_to_comments_are_no_answers(saved, changes):
    (question,), _ = read(saved(page(node(7, **changes))))
    assert [(answer.answer_id[-2:], answer.accepted) for answer in question.answers] == [("70", False), ("71", True)]


def test_a_discussion_whose_marked_answer_is_not_there_is_named(saved):
    (skipped,), _ = read(saved(page(node(7, answer={"id": "DC_71"}, comments={"nodes": [reply(7, 70)]}))))
    assert isinstance(skipped, Skipped)
    assert (skipped.record_id, skipped.place) == ("octocat/Hello-World#7", "entry 1")
    assert skipped.reason == "questions whose accepted answer is missing"


def test_discussions_in_categories_without_answers_are_no_questions(saved):
    (found,), source = read(saved(page(node(1, category={"isAnswerable": False}), node(2, category={"name": "Q&A"}))))
    assert found.question_id.endswith("#2")
    assert source.unlisted["discussions in categories without answers"] == 1


def test_discussions_of_the_rest_api_are_read_with_their_comments(saved):
    # the shapes of the discussion in webhooks, and of .../discussions/NUMBER/comments
    home = "https://github.com/orgs/octocat/discussions/90"
    discussion = {
        "repository_url": API,
        "category": {"id": 3, "name": "Q&A", "slug": "q-a", "is_answerable": True},
        "answer_html_url": f"{home}#discussioncomment-3",
        "answer_chosen_at": "2021-03-25T12:41:54.000-05:00",
        "html_url": home,
        "id": 3297442,
        "number": 90,
        "title": "Welcome",
        "user": user("Codertocat"),
        "labels": [],
        "state": "open",
        "comments": 3,
        "created_at": "2021-03-24T12:41:54.000-05:00",
        "body": "Hi",
        "reactions": thumbs(1),
    }
    comments = [
        {"id": 1, "html_url": f"{home}#discussioncomment-1", "parent_id": None, "discussion_id": 3297442,
         "repository_url": "octocat/Hello-World", "user": user("a"), "body": "one", "reactions": thumbs(4)},
        {"id": 2, "html_url": f"{home}#discussioncomment-2", "parent_id": 1, "discussion_id": 3297442, "body": "two"},
        {"id": 3, "html_url": f"{home}#discussioncomment-3", "parent_id": 1, "discussion_id": 3297442, "body": "three"},
    ]  # fmt: skip
    (found,), _ = read(saved(comments, [discussion]))
    assert (found.question_id, found.date) == ("orgs/octocat#90", "2021-03-24T17:41:54Z")
    assert [(answer.answer_id, answer.text, answer.score, answer.accepted) for answer in found.answers] == [
        ("orgs/octocat#discussioncomment-1", "one", 4, False),
        ("orgs/octocat#discussioncomment-3", "three", None, True),
    ]


def test_issues_of_graphql_and_of_the_command_line_are_read_too(saved):
    def spelled(number, comments):
        return {
            "number": number,
            "title": "T",
            "body": "B",
            "url": f"{HOME}/issues/{number}",
            "state": "CLOSED",
            "stateReason": "COMPLETED",
            "createdAt": "2024-01-01T00:00:00Z",
            "author": {"login": "asker"},
            "labels": [{"name": "x"}],
            "reactionGroups": [{"content": "HEART", "users": {"totalCount": 9}}, {"content": "THUMBS_UP", "users": {"totalCount": 4}}],
            "comments": comments,
        }  # fmt: skip

    said = {
        "id": "IC_kw",
        "url": f"{HOME}/issues/1#issuecomment-5",
        "author": {"login": "m"},
        "authorAssociation": "OWNER",
        "body": "A",
        "reactionGroups": [{"content": "THUMBS_UP", "reactors": {"totalCount": 2}}],
    }
    by_graphql = {"data": {"repository": {"issues": {"nodes": [spelled(1, {"nodes": [said]})]}}}}
    (first, second), _ = read(saved(by_graphql, [spelled(2, [])]))
    assert (first.question_id, first.score, first.tags) == ("octocat/Hello-World#1", 4, ("x",))
    assert first.answers == (
        Answer("octocat/Hello-World#issuecomment-5", "A", 2, "", "https://github.com/m", said["url"]),
    )
    assert (second.question_id, second.answers) == ("octocat/Hello-World#2", ())


def test_pages_may_follow_one_another_be_in_an_array_in_lines_or_in_files(tmp_path):
    pages = [[issue(1), issue(2)], [issue(3)], []]
    comments = [[comment(1, 10)], [comment(3, 30), comment(2, 20)]]
    every = [thing for values in (*comments, *pages) for thing in values]
    written = {
        "following": "\n".join(map(json.dumps, [*comments, *pages])),
        "slurped": json.dumps([*comments, *pages], indent=2),
        "one": json.dumps(every),
        "lines": "\n".join(map(json.dumps, every)),
    }
    for name, text in written.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(written["one"].encode()))
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, values in enumerate([*pages, *comments]):
        (folder / f"page-{number}.json").write_text(json.dumps(values))

    def told(path):
        assert is_forum(path)
        entries, _ = read(path)
        return [(entry.question_id[-1], [answer.answer_id[-2:] for answer in entry.answers]) for entry in entries]

    for path in (*(tmp_path / f"{name}.json" for name in written), tmp_path / "packed.json.gz", folder):
        assert told(path) == [("1", ["10"]), ("2", ["20"]), ("3", ["30"])], path


def test_what_comes_twice_is_taken_once(saved):
    one = node(7, comments={"nodes": [reply(7, 70)]})
    two = node(7, title="Moved to another page", comments={"nodes": [reply(7, 70), reply(7, 71)]})
    (found,), source = read(saved(page(one), page(two)))
    assert (found.title, [answer.answer_id[-2:] for answer in found.answers]) == ("How to?", ["70", "71"])
    assert source.counts["issues and discussions that came twice"] == 1


def test_ids_of_several_repositories_and_hosts_never_collide(saved):
    other = "https://github.com/octocat/Spoon-Knife"
    inside = "https://git.example.org/octocat/Hello-World"
    path = saved(
        [
            issue(1),
            issue(1, html_url=f"{other}/issues/1"),
            issue(1, html_url=f"{inside}/issues/1", user=user("asker")),
            comment(1, 10, html_url=f"{inside}/issues/1#issuecomment-10",
                    issue_url="https://git.example.org/api/v3/repos/octocat/Hello-World/issues/1"),
        ]
    )  # fmt: skip
    found, source = read(path)
    assert [(entry.question_id, len(entry.answers)) for entry in found] == [
        ("octocat/Hello-World#1", 0),
        ("octocat/Spoon-Knife#1", 0),
        ("git.example.org/octocat/Hello-World#1", 1),
    ]
    assert found[2].author == "https://git.example.org/asker"
    assert found[2].answers[0].answer_id == "git.example.org/octocat/Hello-World#issuecomment-10"
    assert source.url == ""


def test_where_a_discussion_has_no_address_its_repository_names_it(saved):
    bare = node(3)
    del bare["url"]
    (found,), _ = read(saved(page(bare)))
    assert (found.question_id, found.url) == ("octocat/Hello-World#3", None)
    (skipped,), _ = read(saved({"data": {"repository": {"discussions": {"nodes": [bare]}}}}))
    assert (skipped.record_id, skipped.reason) == (
        "3",
        "malformed entries: an issue or discussion of no known repository",
    )


def test_the_bodies_that_other_media_types_give_are_read(saved):
    html = issue(1, body_html="<p>Use <code>x</code></p>")
    text = issue(2, body_text="plain\r\ntext")
    del html["body"], text["body"]
    (first, second, third), _ = read(saved([html, text, issue(3, body=None)]))
    assert (first.body, second.body, third.body) == ("Use `x`", "plain\ntext", "")


def test_what_cannot_be_used_is_named_with_its_place(saved):
    path = saved(
        {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"},
        {"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "message": "Could not resolve"}]},
        [issue(1), "text", 3, [[[4]]], {"sha": "a", "commit": {}}],
        issue(2, title=None),
        issue(3, created_at="yesterday"),
        comment(9, 90),
        {"issue_url": f"{API}/issues/1", "body": "no id"},
        {"issue_url": "https://example.org/", "body": "of nothing", "id": 1},
    )
    found, _ = read(path)
    assert [(entry.place, entry.reason, entry.detail) for entry in found if isinstance(entry, Skipped)] == [
        ("entry 1", "errors that the API answered with", "'Not Found'"),
        ("entry 2", "errors that the API answered with", "'Could not resolve'"),
        ("entry 4", "malformed entries: no JSON object", "'text'"),
        ("entry 5", "malformed entries: no JSON object", "3"),
        ("entry 6", "malformed entries: no JSON object", "[4]"),
        ("entry 7", "entries that are neither issue, discussion nor comment", "its keys are ['sha', 'commit']"),
        (
            "entry 8",
            "malformed entries: not as the API gives it",
            "a value that is not allowed: 'title': Input should be a valid string, got None",
        ),
        ("entry 9", "malformed entries: a date that is none", "'yesterday'"),
        ("entry 11", "malformed entries: a comment without an id", "it has no url, databaseId or id"),
        (
            "entry 12",
            "malformed entries: a comment of no known issue or discussion",
            "it has no html_url and no issue_url",
        ),
        (
            "entry 10",
            "comments without their issue or discussion",
            "nothing is there of 'github.com/octocat/hello-world#9'",
        ),
    ]
    assert [entry.question_id for entry in found if isinstance(entry, Question)] == ["octocat/Hello-World#1"]


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b'[{"number": 2, "title"', "malformed entries: the file is cut off: a bracket is not closed"),
        (b'[{"number": 2, "title": "a', "malformed entries: the file is cut off: a bracket is not closed"),
        (b"[1, 2", "malformed entries: the file is cut off: an array is not closed"),
        (b'"abc', "malformed entries: the file is cut off: a text is not closed"),
        (b"]", "malformed entries: a bracket that closes nothing: what follows is not read"),
        (b'{"a": [}]', "malformed entries: a bracket that another one closes: what follows is not read"),
        (b'{"a":' * 300, "malformed entries: more than 200 brackets in one another: what follows is not read"),
        (b'{"a": 01}', "malformed entries: malformed JSON"),
        (b'{"a": "\xff"}', "malformed entries: not UTF-8"),
        (b'{"a": 1, "a": 2}', "malformed entries: a key twice"),
        (b'{"a": ' + b"1" * 100_000 + b"}", "malformed entries: malformed JSON"),
    ],
)
def test_damage_is_named_and_other_entries_and_files_are_read(tmp_path, tail, reason):
    (tmp_path / "a.json").write_bytes(json.dumps([issue(1)]).encode() + tail)
    (tmp_path / "b.json").write_text(json.dumps([issue(2)]))
    found, _ = read(tmp_path)
    assert [entry.question_id[-2:] for entry in found if isinstance(entry, Question)] == ["#1", "#2"]
    last = [entry for entry in found if isinstance(entry, Skipped)][-1]
    assert (last.place.split(",")[0], last.reason) == ("a.json", reason)


def test_a_file_of_nothing_that_the_api_gives_is_refused(saved):
    with pytest.raises(InputError, match=r"saved\.json' is no export of a forum"):
        open_forum(saved([1, 2, 3]))
    assert read(saved([]))[0] == []  # a repository without issues


def test_the_digest_of_a_damaged_file_is_that_of_all_its_bytes(tmp_path):
    content = json.dumps(issue(1)).encode() + b"]" + b" " * (3 * BLOCK)
    (tmp_path / "page.json").write_bytes(content)
    door = open_forum(tmp_path / "page.json")
    assert [type(entry).__name__ for entry in door.entries()] == ["Skipped", "Question"]
    assert door.source().sha256 == hashlib.sha256(content).hexdigest()
    assert door.source().counts["bytes"] == len(content)
