"""Topic files: what is read, and how each thing that is wrong with one is told."""

import datetime
import hashlib
import sys

import pytest

from builders.topics import read_topic
from builders.topics.questions import Questions
from freshstack_datasets.errors import InputError, MissingExtraError
from freshstack_datasets.typed_files.reading import MOST_BYTES

HEAD = "name: bread\ndomain: Baking\ntags: [sourdough, rye]\n"
ONE = HEAD + "repositories:\n- {url: https://example.org/acme/docs, name: acme/docs, tag: v1.0}\n"
COMMIT = "724c31ccd3edce6b6dfe5e0dd2a594a47217f078"


@pytest.fixture
def topic(tmp_path):
    """Write a text, or bytes, as a topic file and read it."""

    def read(content):
        path = tmp_path / "bread.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_topic(path)

    return read


def refused(topic, content):
    """Return the message for a file that is refused, from the file's name on."""
    with pytest.raises(InputError) as caught:
        topic(content)
    message = str(caught.value)
    return message[message.index("bread.yaml") :]


def repository(**members):
    told = {"url": "https://example.org/acme/docs", "name": "acme/docs", "tag": "v1.0", **members}
    return HEAD + "repositories:\n- " + "\n  ".join(f"{key}: {value}" for key, value in told.items() if value) + "\n"


def test_a_whole_file_is_read(topic, tmp_path):
    content = f"""\
name: acme/bread
domain: Baking
tags: [Sourdough, c#]
from: 2023-01-01
to: 2024-06
repositories:
  - url: git@example.org:acme/docs.git
    name: acme/docs
    commit: {COMMIT}
    license: MIT
    alias: manual
    include: [docs/, "*.md"]
    exclude: [docs/old/]
  - url: ../ovens
    name: acme/ovens
    date: "2024-10-24"
documents:
  - path: handbook.jsonl
    license: CC0-1.0
questions: {{min_score: 1}}
models: {{model: m, nuggets: {{parameters: {{temperature: 0.1}}}}}}
pool: {{depth: 20, retrievers: [bm25, "dense:minilm"]}}
"""
    read = topic(content)
    assert (read.name, read.domain, read.tags) == ("acme/bread", "Baking", ("Sourdough", "c#"))
    assert (read.first, read.last) == (datetime.date(2023, 1, 1), datetime.date(2024, 6, 30))
    docs, ovens = read.repositories
    assert (docs.url, docs.name, docs.commit) == ("git@example.org:acme/docs.git", "acme/docs", COMMIT)
    assert (docs.license, docs.prefix) == ("MIT", "manual")
    assert (docs.include, docs.exclude) == (("docs/", "*.md"), ("docs/old/",))
    assert (docs.tag, docs.date) == (None, None)
    assert ovens.url == str(tmp_path.parent.resolve() / "ovens")
    assert (ovens.date, ovens.license, ovens.prefix) == (datetime.date(2024, 10, 24), None, "ovens")
    (handbook,) = read.documents
    assert (handbook.path, handbook.prefix) == (str(tmp_path.resolve() / "handbook.jsonl"), "handbook")
    assert read.questions == Questions(min_score=1)
    assert (read.models.model, dict(read.models.nuggets.parameters)) == ("m", {"temperature": 0.1})
    assert (read.pool.depth, [one.label for one in read.pool.retrievers]) == (20, ["bm25", "dense:minilm"])
    assert read.digest == hashlib.sha256(content.encode()).hexdigest()


def test_a_byte_order_mark_and_other_line_ends_change_nothing_but_the_digest(topic):
    plain, other = topic(ONE), topic(b"\xef\xbb\xbf" + ONE.replace("\n", "\r\n").encode())
    assert other.digest != plain.digest
    assert other.model_copy(update={"digest": plain.digest}) == plain


@pytest.mark.parametrize(
    "told, first, last",
    [
        ("from: 2023-05-02\nto: 2024-02-29", (2023, 5, 2), (2024, 2, 29)),
        ("from: '2023-05'\nto: '2024-02'", (2023, 5, 1), (2024, 2, 29)),  # 2024 is a leap year
        ("from: 2023\nto: 2024", (2023, 1, 1), (2024, 12, 31)),  # which YAML reads as numbers
    ],
)
def test_a_period_is_told_by_days_months_or_years(topic, told, first, last):
    read = topic(ONE + told)
    assert (read.first, read.last) == (datetime.date(*first), datetime.date(*last))


def test_a_topic_cannot_be_changed(topic):
    with pytest.raises(ValueError, match="frozen"):
        topic(ONE).repositories[0].tag = "v2"


@pytest.mark.parametrize(
    "content, message",
    [
        (ONE + "repositorys: []", "bread.yaml:6: unknown key 'repositorys'; did you mean 'repositories'?"),
        (ONE + "digest: abc", "bread.yaml:6: unknown key 'digest'"),
        (ONE + "first: 2024-01-01", "bread.yaml:6: unknown key 'first'"),
        (
            repository(licence="MIT"),
            "bread.yaml:8, repositories[0]: unknown key 'licence'; did you mean 'license'?",
        ),
        (HEAD + "documents: [{path: a, nam: b}]", "bread.yaml:4, documents[0]: unknown key 'nam'"),
        ("name: bread", "bread.yaml, domain, expected a value, got none"),
        ("name: bread\ndomain: Baking", "bread.yaml, tags, expected a value, got none; [] takes all questions"),
        (HEAD, "bread.yaml, expected repositories or documents, got neither"),
        (HEAD + "domain: x", "bread.yaml:4, expected each key once, got 'domain' again, after line 2"),
        (repository(name="docs"), "bread.yaml:6, repositories[0].name, expected owner/repository, got 'docs'"),
        (repository(name="../docs"), "bread.yaml:6, repositories[0].name, expected owner/repository"),
        (repository(tag=None), "bread.yaml:5, repositories[0], expected one of commit, tag and date, got none"),
        (repository(date="2024-10-24"), "expected one of commit, tag and date, got tag and date"),
        (repository(tag="1.10"), "bread.yaml:7, repositories[0].tag, expected a text, got 1.1; put it in quotes"),
        (repository(tag="v1..2"), "repositories[0].tag, expected the name of a tag, got 'v1..2'"),
        (repository(tag="--upload-pack=x"), "repositories[0].tag, expected the name of a tag"),
        (repository(tag=None, commit="724c31c"), "expected a whole commit, 40 digits from 0 to f, got '724c31c'"),
        (
            repository(tag=None, date="2024-10"),
            "repositories[0].date, expected a day such as 2024-10-24, got '2024-10'",
        ),
        (repository(tag=None, date="2024"), "repositories[0].date, expected a day such as 2024-10-24, got 2024"),
        (repository(tag=None, date="2024-02-30"), "bread.yaml:7, expected a number or a day that there is"),
        (repository(tag=None, date="2024-10-24T10:00:00Z"), "bread.yaml:7, expected a day such as 2024-10-24"),
        (repository(alias="a/b"), "repositories[0].alias, expected letters and digits, with . _ - within, got 'a/b'"),
        (repository(license="''"), "repositories[0].license, expected a line of text, got ''"),
        (repository(include="docs/"), "repositories[0].include, expected a list, got 'docs/'"),
        (repository(include="[*.md]"), "bread.yaml:8, expected quotes around a text that begins with * or &, got none"),
        (repository(include="['[']"), "repositories[0].include, expected patterns as in .gitignore, such as docs/"),
        (repository(exclude="['[z-a]']"), "repositories[0].exclude, expected patterns as in .gitignore"),
        (repository(exclude=["a"] * 1_001), "repositories[0].exclude, expected at most 1,000 patterns, got 1,001"),
        (repository(exclude=["a" * 501]), "repositories[0].exclude, expected patterns of at most 500 printable"),
        (repository(url="~nobody-of-that-name/docs"), "repositories[0].url, expected the home of a user of this"),
        (ONE + "from: 2024-07\nto: 2024-06", "bread.yaml:7, to, expected a day from 2024-07-01 on, got 2024-06-30"),
        (ONE + "to: soon", "bread.yaml:6, to, expected a day, a month or a year: 2015-01-31, 2015-01 or 2015"),
        (ONE + "to: true", "bread.yaml:6, to, expected a day, a month or a year"),
        (ONE.replace("rye", "SOURDOUGH"), "bread.yaml:3, tags[1], expected each tag once, got 'SOURDOUGH'"),
        (ONE.replace("[sourdough, rye]", "rye"), "bread.yaml:3, tags, expected a list, got 'rye'"),
        (ONE.replace("rye", "no"), "bread.yaml:3, tags[1], expected a text, got False; put it in quotes"),
        (ONE.replace("name: bread", "name: ../bread"), "bread.yaml:1, name, expected letters and digits"),
        (ONE + "questions: [a]", "bread.yaml:6, questions, expected keys and their values, got a list"),
        (
            HEAD + "documents: [{path: https://example.org/x}]",
            "expected the path of a JSONL file or a folder, got a URL",
        ),
        (HEAD + "documents: [{path: Unser Handbuch}]", "documents[0], expected a name, since that of the path"),
        (HEAD + "repositories: [acme/docs]", "repositories[0], expected keys and their values, got 'acme/docs'"),
        (b"name: \xff", "bread.yaml:1, expected UTF-8, got the byte 0xff"),
        ("", "bread.yaml, expected keys and their values, got nothing; python -m builders new writes a topic file"),
        ("- a", "bread.yaml, expected keys and their values, got a list"),
        ("a: 1\n---\nb: 2", "bread.yaml:2, expected YAML"),
        ("a: [1", "bread.yaml:1, expected YAML"),
        ("a:\n\tb: 1", "bread.yaml:2, expected YAML"),
        ("a:\n b: \x07", "bread.yaml:2, expected a text without control characters, got the character 0x0007"),
        ('a: "\\UFFFFFFFF"', "bread.yaml, expected YAML, got an escape that stands for no letter"),
        ('a: "\\ud800"', "bread.yaml:1, expected valid Unicode, got half a surrogate pair"),
        ("no: 1", "bread.yaml:1, expected a text for a key, got 'no'; put it in quotes"),
        ("[a]: 1", "bread.yaml:1, expected a text for a key, got a list or a mapping"),
        ("a: .nan", "bread.yaml:1, expected a finite number, got '.nan'"),
        (ONE + "from: 02024", "bread.yaml:6, expected a number in plain digits, got '02024'"),  # 1044 in YAML 1.1
        ("a: 1:30", "bread.yaml:1, expected a number in plain digits, got '1:30'"),  # 90
        ("a: 1_000", "bread.yaml:1, expected a number in plain digits, got '1_000'"),
        ("a: 9223372036854775808", "bread.yaml:1, expected a whole number of at most 64 bits"),
        ("a: " + "9" * 5_000, "bread.yaml:1, expected a number or a day that there is"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_key(topic, content, message):
    assert refused(topic, content).startswith(message) or message in refused(topic, content)


@pytest.mark.parametrize(
    "content, message",
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "bread.yaml:1, expected values that are written out"),
        ("a: {<<: {b: 1}}", "bread.yaml:1, expected a plain value, got '<<'"),
        ("a: !!python/object/apply:os.getcwd []", "bread.yaml:1, expected a plain value, got one with a tag"),
        ("a: !!binary aGk=", "bread.yaml:1, expected a plain value, got one with a tag"),
        ("a: " + "[" * 400_000, "bread.yaml:1, expected at most 20 lists and mappings in each other, got more"),
        ("#" * (MOST_BYTES + 1), "bread.yaml, expected a file of at most 2,000,000 bytes, got more"),
    ],
)
def test_what_could_grow_or_run_is_refused(topic, content, message):
    assert refused(topic, content).startswith(message)


@pytest.mark.parametrize(
    "names",
    [("acme/docs", "laravel/docs"), ("acme/docs", "acme/Docs")],  # the second: files of one name on some disks
)
def test_two_repositories_with_the_same_last_name_need_an_alias(topic, names):
    lines = [f"- {{url: https://example.org/{name}, name: {name}, tag: v1}}\n" for name in names]
    content = HEAD + "repositories:\n" + "".join(lines)
    last = names[1].rpartition("/")[2]
    assert refused(topic, content) == (
        "bread.yaml:6, repositories[1], expected ids that begin otherwise than those of another source, "
        f"got '{last}'; give it a name for its ids: alias: …"
    )
    read = topic(content.replace(f"name: {names[1]}", f"name: {names[1]}, alias: second"))
    assert [repository.prefix for repository in read.repositories] == ["docs", "second"]


def test_documents_need_another_beginning_of_their_ids_than_repositories(topic):
    message = refused(topic, ONE + "documents: [{path: docs}]")
    assert message.startswith("bread.yaml:6, documents[0], expected ids that begin otherwise")
    assert topic(ONE + "documents: [{path: docs, name: handbook}]").documents[0].prefix == "handbook"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/acme/docs.git",
        "http://127.0.0.1:8080/docs",
        "https://[::1]:8080/docs",
        "ssh://git@example.org:22/acme/docs",
        "ssh://example.org/acme/docs",
        "git://localhost/docs",
        "git@example.org:acme/docs.git",
        "example.org:acme/docs",
        "file:///srv/git/docs.git",
    ],
)
def test_an_address_that_git_knows_is_taken_as_it_is(topic, url):
    assert topic(repository(url=f'"{url}"')).repositories[0].url == url


@pytest.mark.parametrize("path", ["/srv/docs", "./a:b", "../a", "a/b", "."])
def test_a_path_is_taken_from_the_folder_of_the_file(topic, tmp_path, path):
    place = (tmp_path.resolve() / path).resolve()
    assert topic(repository(url=f'"{path}"')).repositories[0].url == str(place)


@pytest.mark.parametrize(
    "url",
    [
        "https://git:hunter2@example.org/acme/docs",
        "https://hunter2@example.org/acme/docs",
        "https://git:hun/ter2hunter2@example.org/acme/docs",
        "http://:hunter2@127.0.0.1/docs",
        "ssh://git:hunter2@example.org/docs",
        "git:hunter2@example.org:acme/docs",
        "https://example.org/acme/docs?private_token=hunter2",
        "https://example.org/acme/docs#hunter2",
        "ftp://git:hunter2@example.org/docs",
    ],
)
def test_a_password_or_token_is_refused_and_never_shown(topic, url):
    assert "hunter2" not in refused(topic, repository(url=f'"{url}"'))
    assert "hunter2" not in refused(topic, HEAD + f'repositories: ["{url}"]')
    assert "hunter2" not in refused(topic, HEAD + f'repositories: "{url}"')
    assert "hunter2" not in refused(topic, repository(name=f'"{url}"'))


def test_where_a_token_goes_is_said(topic):
    message = refused(topic, repository(url="https://git:hunter2@example.org/acme/docs"))
    assert message.endswith(
        "expected a URL without a name or a password, got one with such; "
        "put the token into an environment variable named after the host, such as GIT_TOKEN_GITHUB_COM"
    )


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c true", "fd::17", "--upload-pack=true", "-x", "ftp://example.org/docs", "https://", "https:///docs",
        "https://example.org", "https://example.org:port/docs", "https://-x/docs", "ssh://-oProxyCommand=x/docs",
        "-oProxyCommand=x:docs", "git@-x:docs", "host:-docs", "host:", "file://example.org/docs", "file:docs",
        "https://exa mple.org/docs", "https://example.org/do\\tcs", "javascript://x", "",
    ],
)  # fmt: skip
def test_an_address_that_no_git_should_be_given_is_refused(topic, url):
    if url == "file:docs":  # to git, a host of that name
        assert topic(repository(url=f'"{url}"')).repositories[0].url == url
        return
    content = HEAD + f'repositories: [{{url: "{url}", name: acme/docs, tag: v1}}]'
    assert refused(topic, content).startswith("bread.yaml:4, repositories[0].url, expected ")


@pytest.mark.parametrize(
    "include, exclude, path, taken",
    [  # by the rules of gitignore(5)
        ([], [], "a/b.py", True),
        (["docs/"], [], "docs/a/b.md", True),
        (["docs/"], [], "x/docs/b.md", True),
        (["/docs/"], [], "x/docs/b.md", False),
        (["docs/"], [], "docs", False),  # a file of that name is no folder
        (["*.md"], [], "docs/a.md", True),
        (["docs/*.md"], [], "docs/a/b.md", False),
        (["docs/**/*.md"], [], "docs/a/b.md", True),
        (["*.md", "!old.md"], [], "a/old.md", False),
        (["*.md"], ["tests/"], "tests/a.md", False),
        ([], ["*.min.js"], "a/b.min.js", False),
        ([], ["*.min.js"], "a/b.js", True),
        (["日本/"], [], "日本/a.md", True),
    ],
)
def test_patterns_choose_files_as_those_of_gitignore(topic, include, exclude, path, taken):
    read = topic(repository(include=include, exclude=exclude) if include or exclude else ONE)
    assert read.repositories[0].chooser()(path) is taken


def test_patterns_choose_files_of_folders_of_documents_too(topic):
    takes = topic(HEAD + "documents: [{path: a, include: ['*.md'], exclude: [old/]}]").documents[0].chooser()
    assert [takes(path) for path in ("x.md", "x.txt", "old/x.md")] == [True, False, False]


def test_patterns_need_a_package_and_all_else_does_not(topic, monkeypatch):
    monkeypatch.setitem(sys.modules, "pathspec", None)
    assert topic(ONE).repositories[0].chooser()("a.py")
    with pytest.raises(MissingExtraError, match=r"pip install 'freshstack-datasets\[build\]'"):
        topic(repository(include="[docs/]"))


@pytest.mark.parametrize("name", ["no.yaml", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_told(tmp_path, name):
    with pytest.raises(InputError, match=r"cannot read '.*', expected a topic file, got "):
        read_topic(tmp_path / name)


def test_the_name_of_a_topic_of_ours_in_place_of_its_file_is_understood():
    with pytest.raises(InputError, match=r"cannot read 'langchain'.*did you mean builders/topics/langchain\.yaml\?"):
        read_topic("langchain")


@pytest.mark.parametrize(
    "told",
    [
        "api_key: {key}",
        "x-api-key: {key}",
        "Authorization: Bearer {key}",
        "extra_headers: {{x: {key}}}",
        "extra_body: {{more: [{{aws_secret_access_key: {key}}}]}}",
    ],
)
def test_a_key_among_the_parameters_is_refused_and_not_shown(topic, told):
    # parameters are sent in a call's body, as some servers take a key there; they are kept, and published
    told = told.format(key="sk-canary-1234567890")
    message = refused(topic, f"{ONE}models: {{nuggets: {{parameters: {{{told}}}}}}}\n")
    assert "key_from" in message
    assert "canary" not in message


def test_parameters_that_only_sound_like_keys_are_sent(topic):
    told = "{max_tokens: 9, prompt_cache_key: a, logprobs: true}"
    assert topic(f"{ONE}models: {{parameters: {told}}}\n").models.parameters["prompt_cache_key"] == "a"
