"""``submission.yaml``: what may stand in it, what is refused, and that the next step is always said."""

import datetime
import os
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError, MissingExtraError
from leaderboard.submission import licenses, reading
from leaderboard.submission.facts import license_of, openness_of, parameters_of, size_of
from leaderboard.submission.model import UsedModel
from leaderboard.submission.reading import MOST_BYTES, faults_of, read_submission

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def plain() -> dict:
    """A submission that nothing is wrong with."""
    return {
        "schema_version": 1,
        "date": "2026-11-30",
        "team": {"name": "Acme", "contact": "ir@acme.io", "affiliation": "Université d'Acmé"},
        "system": {
            "name": 'Acme <b>"Search"</b> & Co.',
            "kind": "hybrid",
            "setting": "inference",
            "components": ["bm25", "dense:acme/embedder"],
            "url": "https://acme.io/search?v=2#about",
            "description": "It searches.\nTwice …",
        },
        "models": [
            {
                "id": "acme/embedder",
                "revision": COMMIT,
                "parameters": 22_713_216,
                "license": "apache-2.0",
                "open_weights": True,
                "release_date": "2026-05-01",
                "training_cutoff": "2025-12-31",
                "query_prompt": "[Q] Instruct: find pages\nQuery: ",
                "document_prompt": "",
                "max_query_tokens": 512,
                "max_document_tokens": 512,
                "dimensions": 384,
            }
        ],
        "training": {
            "on_benchmark": False,
            "on_its_questions_site": "unknown",
            "datasets": ["NQ"],
            "statement": "More.",
        },
        "reproduce": {
            "repository": "https://github.com/acme/runs",
            "commit": COMMIT,
            "command": "python search.py --endpoint http://localhost:8000 --out nimbus.trec < questions.jsonl",
            "environment": "pip install acme",
            "seed": -7,
        },
        "hardware": "1 x NVIDIA A100 80 GB",
        "latency": {"query_ms_p50": 12, "query_ms_p95": 30.5, "index_seconds": 60},
        "license": "CC-BY-4.0",
    }


def changed(place: str, value: object) -> bytes:
    """The bytes of that submission with another value at a place such as ``models.0.id``; ``del`` takes it out."""
    told = plain()
    *way, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    at = told
    for key in way:
        at = at[key]
    if value is del_:
        del at[last]
    else:
        at[last] = value
    return yaml.safe_dump(told, allow_unicode=True, sort_keys=False).encode()


del_ = object()


def only(content: bytes) -> tuple[str, str, str]:
    """Kind, place and message of the one fault of a submission."""
    (fault,) = faults_of(content)
    return fault.kind, fault.place, str(fault.error("s"))


def test_a_submission_is_read(tmp_path):
    path = tmp_path / "submission.yaml"
    path.write_bytes(changed("hardware", None))
    found = read_submission(path)
    assert found.system.name == 'Acme <b>"Search"</b> & Co.'
    assert found.date == datetime.date(2026, 11, 30)
    assert found.training.on_benchmark == "no"  # which YAML reads as false
    assert found.models[0].license == "Apache-2.0"
    assert found.models[0].query_prompt == "[Q] Instruct: find pages\nQuery: "
    assert found.reproduce.seed == -7
    assert (found.hardware, found.latency.query_ms_p95) == (None, 30.5)


@pytest.mark.parametrize(
    "place",
    [
        *("team.affiliation", "system.url", "system.description", "system.components", "models.0.open_weights"),
        *("models.0.release_date", "models.0.training_cutoff", "models.0.query_prompt", "models.0.max_query_tokens"),
        *("training.datasets", "training.statement", "reproduce.environment", "reproduce.seed", "latency.query_ms_p95"),
    ],
)
def test_what_is_not_known_may_be_left_out(place):
    assert faults_of(changed(place, del_)) == []


@pytest.mark.parametrize(
    "place",
    [
        *(
            "schema_version",
            "date",
            "team",
            "system",
            "models",
            "training",
            "reproduce",
            "hardware",
            "latency",
            "license",
        ),
        *("team.name", "team.contact", "system.name", "system.kind", "system.setting", "models.0.parameters"),
        *("models.0.id", "models.0.revision", "models.0.license", "training.on_benchmark"),
        *("training.on_its_questions_site", "reproduce.repository", "reproduce.commit", "reproduce.command"),
        "latency.query_ms_p50",
    ],
)
def test_what_has_to_be_told_is_missed(place):
    kind, found, message = only(changed(place, del_))
    assert (kind, found) == ("missing", place.replace(".0", "[0]"))
    assert "expected a value, got none" in message


def test_parameters_and_a_licence_that_nobody_knows_are_null_and_told():
    assert faults_of(changed("models.0.parameters", None)) == []
    assert faults_of(changed("models.0.license", None)) == []


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("schema_version", 2, "expected 1"),
        ("date", "2026-11-31", "expected a day that there is"),
        ("date", "30.11.2026", "expected a day such as 2026-10-24"),
        ("date", 20261130, "expected a day such as 2026-10-24"),
        ("date", "1066-10-14", "expected a day from 1990-01-01 on"),
        ("team.name", "", "expected a line of 1 to 200 characters"),
        ("team.name", " Acme", "expected a line of 1 to 200 characters"),
        ("team.name", "a" * 201, "expected a line of 1 to 200 characters"),
        ("team.name", "Ac\nme", "expected a line of 1 to 200 characters"),
        ("team.name", "Ac\u202eme", "expected a line of 1 to 200 characters"),
        ("team.name", "Ac\u200bme", "expected a line of 1 to 200 characters"),
        ("team.name", "Ac\x1b[31mme", "expected a line of 1 to 200 characters"),
        ("team.name", "Z" + "\u0301" * 4, "expected letters with at most 3 accents each"),
        ("team.name", "\u0e2a" + "\u0e47" * 4, "expected letters with at most 3 accents each"),
        ("team.name", "\u3164\u2800", "expected a line that can be seen, got '\\u3164\\u2800'"),
        ("team.name", 7, "expected a text, got 7; put it in quotes"),
        ("team.contact", "acme", "expected an e-mail address, or the https:// address of a page"),
        ("team.contact", "javascript:alert(1)", "expected an e-mail address, or the https:// address of a page"),
        ("team.contact", "ir@acme", "expected an e-mail address, or the https:// address of a page"),
        ("system.kind", "magic", "expected sparse, dense, late-interaction, hybrid, fusion, rerank, agentic or llm"),
        ("system.setting", "both", "expected inference or oracle"),
        ("system.components", "bm25", "expected a list"),
        ("system.components", ["x"] * 51, "expected a shorter list"),
        ("system.url", "javascript:alert(1)", "expected an https:// or http:// address"),
        ("system.url", "https://acme.io/\u202e", "expected an https:// or http:// address"),
        ("system.url", 'https://acme.io/"onload="x', "expected an https:// or http:// address"),
        ("system.url", "HTTPS://acme.io", "expected an https:// or http:// address"),
        (
            "system.url",
            "https://me:secret@acme.io/",
            "expected an address without a name or a password, got one with such",
        ),
        ("system.url", "https://127.0.0.1/x", "expected an address that everybody can open"),
        ("system.url", "https://acme/x", "expected an address that everybody can open"),
        ("system.url", "https://acme.io:99999/", "expected an https:// or http:// address"),
        ("system.url", "https://[::1/", "expected an https:// or http:// address"),
        ("system.url", "https://acme.io/" + "a" * 500, "expected an https:// or http:// address of at most 500"),
        ("models.0.id", "acme embedder", "expected a model's name, such as BAAI/bge-m3"),
        ("models.0.id", "../embedder", "expected a model's name, such as BAAI/bge-m3"),
        ("models.0.revision", "main", "expected a revision that stays what it is"),
        ("models.0.parameters", "22M", "expected a whole number"),
        ("models.0.parameters", -1, "expected a number from 0 to 1,000,000,000,000,000, got -1"),
        ("models.0.parameters", 2.5, "expected a whole number"),
        ("models.0.parameters", True, "expected a whole number"),
        ("models.0.license", "proprietary", "a closed one is LicenseRef-proprietary"),
        ("models.0.open_weights", "yes", "expected true or false"),
        ("models.0.release_date", "2026-12-01", "a day that is not after that of the submission, 2026-11-30"),
        ("models.0.training_cutoff", "2026-05-02", "expected a day that is not after its release, 2026-05-01"),
        ("models.0.dimensions", 0, "expected a number from 1 to 1,000,000,000"),
        ("models", [], "expected the models of a system of kind hybrid, got none"),
        ("models", [plain()["models"][0], plain()["models"][0]], "expected each model once"),
        ("training.on_benchmark", "maybe", "expected yes, no or unknown"),
        ("training.datasets", ["FreshStackRetrieval"], "expected yes, got no; 'FreshStackRetrieval' is among"),
        ("reproduce.repository", "git@github.com:acme/runs", "expected an https:// or http:// address"),
        ("reproduce.commit", "0123456", "expected a whole commit, 40 digits from 0 to f"),
        ("reproduce.commit", COMMIT.upper(), "expected a whole commit, 40 digits from 0 to f"),
        ("reproduce.commit", "0" * 40, "expected a whole commit, 40 digits from 0 to f"),
        ("reproduce.command", "", "expected a text of at most 2,000 characters"),
        ("latency.query_ms_p95", 11, "expected at least the median, 12"),
        ("latency.query_ms_p50", -1, "expected a number from 0 to 1,000,000,000"),
        ("license", "free", "expected a licence by SPDX, such as Apache-2.0"),
        ("team.fax", "1", "unknown key 'fax'"),
        ("score", 1.0, "unknown key 'score'"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(place, value, expected):
    _, _, message = only(changed(place, value))
    assert expected in message
    assert re.match(r"s:[0-9]+[,:]", message), "it has a line"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("team.name", "ENTER_VALUE_HERE"),
        ("team.name", "<team>"),
        ("team.name", "your team"),
        ("team.name", "N/A"),
        ("team.name", "..."),
        ("team.name", "???"),
        ("team.affiliation", "TODO: ask"),
        ("team.contact", "ir@example.org"),
        ("team.contact", "https://mail.example.com/us"),
        ("system.kind", "ENTER_VALUE_HERE"),
        ("system.url", "https://example.org"),
        ("system.components.1", "TBD"),
        ("models.0.parameters", "ENTER_VALUE_HERE"),
        ("models.0.query_prompt", "ENTER_VALUE_HERE"),
        ("reproduce.repository", "https://acme.invalid/runs"),
        ("reproduce.command", "python search.py --corpus <corpus> --out nimbus.trec"),
        ("reproduce.command", "python search.py ..."),
        ("hardware", "-"),
        ("license", "fixme"),
    ],
)
def test_what_waits_to_be_filled_in_is_told_apart(place, value):
    kind, found, message = only(changed(place, value))
    assert (kind, found) == ("placeholder", re.sub(r"\.(\d)", r"[\1]", place))
    assert f"got {value!r}" in message


@pytest.mark.parametrize("value", ["your_" + "a_" * 40_000 + "!", "a" * 90_000, "?" * 90_000, "your-" + "_a" * 40_000])
def test_a_text_that_is_far_too_long_is_looked_at_once(value):
    # An expression that can cut such a text in many ways would try them all, which takes hours.
    kind, found, _ = only(changed("system.url", value))
    assert (kind, found) == ("placeholder" if value[0] == "?" or value.startswith("your-") else "value", "system.url")


def test_what_waits_to_be_filled_in_is_told_what_it_has_to_be():
    assert "expected yes, no or unknown, got" in only(changed("training.on_benchmark", "ENTER_VALUE_HERE"))[2]
    assert "git rev-parse HEAD prints it" in only(changed("reproduce.commit", "ENTER_VALUE_HERE"))[2]
    wanted = "expected a value in its place, got 'TODO'; write null where it is not known"
    assert wanted in only(changed("hardware", "TODO"))[2]


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("team.contact", "write what is true of your system"),
        ("system.kind", "write what is true of your system"),
        ("training.on_benchmark", "write what is true of your system"),
        ("latency", "write null where it is not known"),
        ("models.0.revision", "write models: [] for a system without any"),
        ("models.0.parameters", "write models: [] for a system without any; write null where it is not known"),
    ],
)
def test_null_is_proposed_only_where_it_is_taken(place, hint):
    assert only(changed(place, "ENTER_VALUE_HERE"))[2].endswith(f"; {hint}")


def test_all_that_is_wrong_is_told_by_line_and_read_says_the_first(tmp_path):
    content = changed("team.name", "TODO").replace(b"inference", b"both").replace(b"CC-BY-4.0", b"free")
    lines = content.decode().splitlines()
    found = [(fault.line, fault.place) for fault in faults_of(content)]
    where = [1 + next(i for i, line in enumerate(lines) if text in line) for text in ("TODO", "both", "free")]
    assert found == list(zip(where, ["team.name", "system.setting", "license"], strict=True))
    path = tmp_path / "submission.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"submission.yaml:{where[0]}, team.name, expected a value in its place"):
        read_submission(path)


def test_every_key_that_is_not_known_is_told():
    content = changed("hardware", None) + b"fax: 1\nscore: 1\n"
    assert [(fault.kind, fault.place, fault.got) for fault in faults_of(content)] == [
        ("unknown key", "", "'fax'"),
        ("unknown key", "", "'score'"),
    ]


def test_the_day_must_have_begun_somewhere():
    content = changed("hardware", None)
    today = datetime.date(2026, 11, 29)
    assert faults_of(content, today=today) == []
    (fault,) = faults_of(content, today=today - datetime.timedelta(days=1))
    assert (fault.place, fault.expected, fault.got) == ("date", "a day until 2026-11-28", "2026-11-30")


def test_the_day_is_read_however_it_is_written():
    unquoted = changed("hardware", None).replace(b"'2026-11-30'", b"2026-11-30")
    assert faults_of(unquoted, today=datetime.date(2026, 1, 1))[0].place == "date"
    assert faults_of(changed("hardware", None), today=datetime.date(2026, 1, 1))[0].place == "date"
    (fault,) = faults_of(changed("date", "soon"), today=datetime.date(2026, 1, 1))
    assert fault.expected == "a day such as 2026-10-24"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "s, expected keys and their values, got nothing; python -m leaderboard new writes one"),
        (b"a: &a [x]\nb: [*a, *a]", "expected values that are written out, got an anchor or an alias"),
        (b"a: !!python/object/apply:os.system ['true']", "expected a plain value, got one with a tag"),
        (b"a: \xff", "s:1, expected UTF-8, got the byte 0xff"),
        (b"a: \0", "expected a text without control characters"),
        (b"a: " + b"9" * 5_000, "expected a number or a day that there is"),
        (b"{" * 10_000, "expected at most 20 lists and mappings in each other"),
        (b"x" * (MOST_BYTES + 1), "expected a file of at most 100,000 bytes, got more"),
    ],
)
def test_hostile_yaml_is_one_fault(content, expected):
    kind, _, message = only(content)
    assert kind == "unreadable"
    assert expected in message


@pytest.mark.parametrize(
    "more",
    [
        b"".join(b"k%d: 1\n" % number for number in range(9_000)),
        b"x: [" + b"TODO, " * 15_000 + b"TODO]\n",
        b"x: [" + b"{}, " * 20_000 + b"{}]\n",
    ],
)
def test_of_thousands_of_faults_a_thousand_are_told(more):
    assert 0 < len(faults_of(changed("hardware", None) + more)) <= 2_000  # of values, and of what is to be filled in


def test_a_link_a_pipe_and_a_folder_are_not_looked_into(tmp_path):
    real = tmp_path / "real"
    real.write_bytes(changed("hardware", None))
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    os.mkfifo(pipe)
    for path, got in ((link, "a link"), (pipe, "a pipe or a device"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=f"expected a plain file, got {got}"):
            read_submission(path)
    with pytest.raises(InputError, match="got no such file or directory; python -m leaderboard new writes one"):
        read_submission(tmp_path / "none")
    with pytest.raises(InputError, match="got an unusable path"):
        read_submission(Path("a\0b"))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("mit", "MIT"),
        ("apache-2.0", "Apache-2.0"),
        ("GPL-3.0", "GPL-3.0-only"),
        ("MIT or Apache-2.0", "MIT OR Apache-2.0"),
        ("(MIT OR Apache-2.0) AND CC-BY-NC-4.0", "(MIT OR Apache-2.0) AND CC-BY-NC-4.0"),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
        ("LicenseRef-proprietary", "LicenseRef-proprietary"),
        ("LicenseRef-gemma AND MIT", "LicenseRef-gemma AND MIT"),
    ],
)
def test_licences_are_spelled_as_spdx_does(text, spelled):
    assert licenses.spelled(text) == spelled


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Apache 2.0",
        "MIT/X11",
        "licenseref-x",
        "LicenseRef-",
        "AND",
        "MIT AND",
        "((((MIT",
        "MIT MIT",
        "M\u202eIT",
        "(" * 300,
    ],
)
def test_what_is_no_licence_is_refused(text):
    assert "expected a licence by SPDX" in only(changed("license", text))[2]


def test_without_the_package_of_licences_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "license_expression", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'freshstack-datasets[leaderboard]'")):
        faults_of(changed("hardware", None))


def model(name: str, parameters: int | None = 0, license: str | None = "MIT", open_weights: bool | None = True):
    return UsedModel(id=name, revision="1", parameters=parameters, license=license, open_weights=open_weights)


def test_the_parameters_of_models_are_added_each_model_once():
    assert parameters_of([]) == 0
    assert parameters_of([model("a", 3), model("b", 4), model("a", 3)]) == 7
    assert parameters_of([model("a", 3), model("b", None)]) is None


@pytest.mark.parametrize(
    ("parameters", "size"),
    [
        (None, "-"),
        (0, "-"),
        (500, "0.5K"),
        (22_713_216, "22.7M"),  # all-MiniLM-L6-v2
        (109_486_464, "109M"),
        (305_368_320, "305M"),
        (999_500_000, "1B"),  # not 1000M
        (1_540_000_000, "1.54B"),
        (7_567_295_488, "7.57B"),
        (8_030_000_000, "8.03B"),
        (671_000_000_000, "671B"),
        (1_000_000_000_000, "1000B"),
    ],
)
def test_sizes_have_three_digits(parameters, size):
    assert size_of(parameters) == size


def test_the_licence_of_models_is_that_of_all_of_them():
    assert license_of([]) == ""
    assert license_of([model("a", license="MIT OR Apache-2.0")]) == "MIT OR Apache-2.0"
    both = [
        model("a", license="MIT OR Apache-2.0"),
        model("b", license="CC-BY-NC-4.0"),
        model("c", license="CC-BY-NC-4.0"),
    ]
    assert license_of(both) == "(MIT OR Apache-2.0) AND CC-BY-NC-4.0"
    assert license_of([model("a"), model("b", license=None)]) is None


def test_models_are_open_when_the_weights_of_all_can_be_had():
    assert openness_of([]) == "open"
    assert openness_of([model("a"), model("b")]) == "open"
    assert openness_of([model("a"), model("b", open_weights=None)]) == ""
    assert openness_of([model("a", open_weights=None), model("b", open_weights=False)]) == "closed"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
places = [
    *(f"{key}" for key in plain()),
    "team.name",
    "system.components",
    "system.url",
    "models.0",
    "models.0.license",
    "models.0.release_date",
    "training.on_benchmark",
    "latency.query_ms_p50",
]


@given(st.sampled_from(places), anything)
def test_whatever_stands_at_a_place_is_read_or_refused_in_our_words(place, value):
    try:
        content = changed(place, value)
    except (UnicodeEncodeError, yaml.YAMLError):  # half a surrogate pair, which no file holds
        return
    for fault in faults_of(content):
        assert str(fault.error("s")).isprintable()


@given(st.data())
def test_a_submission_with_other_bytes_somewhere_is_read_or_refused_in_our_words(data):
    content = bytearray(changed("hardware", None))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    faults = faults_of(bytes(content))
    assert all(str(fault.error("s")).isprintable() for fault in faults)
    if not faults:
        reading.parse_submission(bytes(content), "s")


@pytest.mark.parametrize(
    "name", ["\u0e01\u0e35\u0e48\u0e1b\u0e38\u0e48\u0e19", "\u092e\u0948\u0902", "\U0001f3c6\ufe0f", "\u3042\u3099"]
)
def test_names_in_any_script_are_taken(name):
    assert faults_of(changed("team.name", name)) == []
