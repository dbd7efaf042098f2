"""Secrets in sources: a build that ends before its corpus is made, and goes on once somebody looked."""

import json

import pytest

from builders.cli import main
from builders.corpus import Settings, build, scanning, work
from builders.publishing.secrets import refuse_secrets
from builders.secrets import Allowed, SecretsError
from builders.topics import read_topic
from freshstack_datasets.loading import load
from freshstack_datasets.records import Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from tests.builders.secrets_made import look_alikes, secrets

MADE = secrets()
LONG = "".join(f"Line {number} says that all is well with the service and its users.\n" for number in range(1, 301))


@pytest.fixture
def topic(tmp_path):
    """A folder and a file of documents: a key at a cut, two settings, an address in a title; and what is harmless."""
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "keys.md").write_text(LONG + MADE["RSA"][1] + "\n" + LONG)
    (folder / "settings.txt").write_text(f"# Größe\r\n{MADE['password'][1]}\r\n\r\n{MADE['database'][1]}\r\n")
    (folder / "fine.md").write_text("\n".join(look_alikes().values()))
    row = {"id": "wiki 1", "text": "Deploys.", "title": MADE["address"][1]}
    (tmp_path / "wiki.jsonl").write_text(json.dumps(row) + "\n")
    path = tmp_path / "topic.yaml"
    path.write_text(
        "name: mine/toys\ndomain: toys\ntags: [toy]\ndocuments:\n  - path: handbook\n  - path: wiki.jsonl\n"
    )
    return path


EXPECTED = [
    ("keys.md", 301, "private-key"),
    ("settings.txt", 2, "assigned-secret"),
    ("settings.txt", 4, "generic-credential-uri"),
    ("", 0, "generic-credential-uri"),
]


def listed(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def secret_parts():
    """What of the secrets may stand nowhere: of the key its lines, of the others themselves."""
    return list(MADE["RSA"][2].splitlines()[1:-1]) + [MADE[name][2] for name in ("password", "database", "address")]


def test_a_build_ends_with_a_list_of_places_and_goes_on_with_it(topic, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    assert main(["corpus", str(topic), "--out", str(out), "--processes", "1"]) == 1
    printed, err = capsys.readouterr()
    found = listed(tmp_path / "out.secrets.jsonl")
    assert [(one["path"], one["line"], one["kind"]) for one in found] == EXPECTED
    assert printed == ""
    assert "settings.txt:4" in err
    assert "id, title or address" in err
    assert err.splitlines()[-1].startswith("error: 4 places seem to hold a secret, listed in ")
    assert not out.exists()
    assert (tmp_path / "out.parts" / "chunks").is_dir()
    told = [err, *(path.read_text() for path in (tmp_path / "out.parts" / "secrets").iterdir())]
    told.append((tmp_path / "out.secrets.jsonl").read_text())
    assert not [part for part in secret_parts() for text in told if part in text]

    monkeypatch.setattr(work.Cutting, "make", None)  # nothing is cut again
    allow = ["--allow-secrets", str(tmp_path / "out.secrets.jsonl")]
    assert main(["corpus", str(topic), "--out", str(out), "--processes", "1", *allow]) == 0
    recipe = json.loads((out / "corpus.json").read_text())["recipe"]
    assert recipe["parameters"]["secrets_allowed"] == 4
    assert "secrets_allowed_unseen" not in recipe["parameters"]
    ids = {row.doc_id for row in _documents(out)}
    assert {one["id"] for one in found} <= ids
    assert not (tmp_path / "out.parts").exists()


def _documents(folder):
    import pyarrow.parquet as pq

    from freshstack_datasets.records import Document

    rows = pq.read_table(folder / "corpus" / "corpus-00000-of-00001.parquet").to_pylist()
    return [
        Document(row["_id"], row["title"], row["text"], {k: v for k, v in row["metadata"].items() if v is not None})
        for row in rows
    ]


def test_json_tells_the_places(topic, tmp_path, capsys):
    assert main(["corpus", str(topic), "--out", str(tmp_path / "out"), "--processes", "1", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert told["secrets"]["count"] == 4
    assert [one["line"] for one in told["secrets"]["first"]] == [301, 2, 4, 0]


def test_a_source_without_secrets_says_who_looked(topic, tmp_path):
    for name in ("keys.md", "settings.txt"):
        (topic.parent / "handbook" / name).unlink()
    (topic.parent / "wiki.jsonl").write_text('{"id": "wiki 1", "text": "Deploys."}\n')
    build(read_topic(topic), tmp_path / "out")
    parameters = json.loads((tmp_path / "out" / "corpus.json").read_text())["recipe"]["parameters"]
    assert parameters.keys() == {"secrets_scanner"}
    assert parameters["secrets_scanner"].startswith("kingfisher-secret-scanner ")
    assert not (tmp_path / "out.secrets.jsonl").exists()


def test_nobody_looks_in_the_mode_for_what_is_public_already(topic, tmp_path):
    build(read_topic(topic), tmp_path / "out", settings=Settings(like="oct-2024"))
    recipe = json.loads((tmp_path / "out" / "corpus.json").read_text())["recipe"]
    assert "secrets_scanner" not in recipe.get("parameters", {})


@pytest.mark.slow
def test_findings_are_the_same_for_any_number_of_processes(topic, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "FILES", 1)
    monkeypatch.setattr(scanning, "_ALONE", 0)
    for number in range(6):
        (topic.parent / "handbook" / f"more{number}.txt").write_text(f"{MADE['GitHub'][1]}\n{MADE['JWT'][1]}\n")
    lists = []
    for processes in (1, 3):
        with pytest.raises(SecretsError) as caught:
            build(read_topic(topic), tmp_path / f"out{processes}", processes=processes)
        lists.append(caught.value.listed.read_bytes())
    assert lists[0] == lists[1]
    assert lists[0].count(b"\n") == 4 + 12


def test_a_snapshot_is_not_published_with_secrets_that_nobody_accepted(topic, tmp_path):
    topic.parent.joinpath("handbook", "keys.md").unlink()
    with pytest.raises(SecretsError) as caught:
        build(read_topic(topic), tmp_path / "out")
    accepted = Allowed.of(str(caught.value.listed))
    build(read_topic(topic), tmp_path / "out", allowed=accepted)
    folder, documents = tmp_path / "snapshot", _documents(tmp_path / "out")
    _write(folder, documents, "How is it deployed?")
    with pytest.raises(SecretsError, match="3 places seem to hold a secret") as caught:
        refuse_secrets(folder, Allowed())
    assert caught.value.listed == tmp_path / "snapshot.secrets.jsonl"
    assert refuse_secrets(folder, accepted) is None  # the list of the corpus holds for what was made of it
    asked = tmp_path / "asked"
    _write(asked, documents, f"Why does {MADE['Slack'][2]} not work?")
    with pytest.raises(SecretsError) as caught:
        refuse_secrets(asked, accepted)
    assert [(one.id, one.path, one.kind) for one in caught.value.first] == [("q", "text", "slack-bot-token")]


def _write(folder, documents, question):
    write_snapshot(
        folder,
        dataset="mine/toys",
        snapshot="2026-11",
        license="MIT",
        documents=documents,
        queries=[Query("q", question)],
        nuggets=[Nugget("n", "q", 0, "It is deployed.")],
        judgments=[Judgment("q", "n", documents[0].doc_id, 1)],
    )
    assert len(load(folder).corpus) == len(documents)


def test_questions_and_answers_are_looked_into(topic, tmp_path, capsys):
    answer = {"id": "a", "body": f"Use {MADE['GitLab'][2]}", "accepted": True, "score": 2}
    question = {"id": "q", "title": "How?", "body": f"I tried {MADE['GitHub'][2]}", "tags": ["toy"], "score": 1}
    (tmp_path / "forum.jsonl").write_text(json.dumps(question | {"date": "2024-05-01", "answers": [answer]}) + "\n")
    arguments = ["questions", str(topic), "--posts", str(tmp_path / "forum.jsonl"), "--out", str(tmp_path / "asked")]
    assert main(arguments) == 1
    assert "error: 2 places seem to hold a secret" in capsys.readouterr().err
    found = listed(tmp_path / "asked.secrets.jsonl")
    assert [(one["id"], one["path"], one["kind"]) for one in found] == [
        ("q", "body", "github-pat"),
        ("q", "answer_text", "gitlab-pat"),
    ]
    assert main([*arguments, "--allow-secrets", "all"]) == 0
    parameters = json.loads((tmp_path / "asked" / "questions.json").read_text())["recipe"]["parameters"]
    assert (parameters["secrets_allowed"], parameters["secrets_allowed_unseen"]) == (2, 2)


def test_a_secret_in_the_name_of_a_file_is_found_and_not_shown(topic, tmp_path, capsys):
    secret = MADE["GitHub"][2]
    (tmp_path / "handbook" / f"token {secret}").mkdir()
    (tmp_path / "handbook" / f"token {secret}" / "a.md").write_text(f"# A\n\n{MADE['password'][1]}\n")
    assert main(["corpus", str(topic), "--out", str(tmp_path / "out"), "--processes", "1"]) == 1
    told, path = "".join(capsys.readouterr()), tmp_path / "out.secrets.jsonl"
    assert secret not in told
    assert secret not in path.read_text()
    found = [(one["path"], one["line"], one["kind"]) for one in listed(path)]
    assert ("token <github-pat>/a.md", 0, "github-pat") in found
    assert ("token <github-pat>/a.md", 3, "assigned-secret") in found
    assert len(found) == len(EXPECTED) + 2
    arguments = ["corpus", str(topic), "--out", str(tmp_path / "out"), "--processes", "1"]
    assert main([*arguments, "--allow-secrets", str(path)]) == 0


def test_a_secret_in_an_id_a_tag_or_a_name_of_a_question_is_found_and_not_shown(topic, tmp_path, capsys):
    secret = MADE["GitHub"][2]
    answer = {"id": "a", "body": "So.", "accepted": True, "score": 2}
    rows = [{"id": name, "title": "How?", "tags": ["toy"], "date": "2024-05-01", "answers": [answer]} for name in "qrs"]
    rows[0]["id"], rows[1]["author"] = f"q {secret}", secret
    rows[2]["tags"].append(secret)
    (tmp_path / "forum.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["questions", str(topic), "--posts", str(tmp_path / "forum.jsonl"), "--out", str(tmp_path / "asked")]
    assert main(arguments) == 1
    told, path = "".join(capsys.readouterr()), tmp_path / "asked.secrets.jsonl"
    assert secret not in told
    assert secret not in path.read_text()
    assert [(one["id"], one["path"], one["kind"]) for one in listed(path)] == [
        ("q <github-pat>", "id", "github-pat"),
        ("r", "author", "github-pat"),
        ("s", "tags", "github-pat"),
    ]
    assert main([*arguments, "--allow-secrets", str(path)]) == 0
