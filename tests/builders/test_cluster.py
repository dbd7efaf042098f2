"""Stages on a cluster: the same parts and marks as here, whoever starts the tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.corpus import build, work
from builders.stages import Cluster, run, slurm
from freshstack_datasets.errors import FreshStackError, InputError
from tests.builders.counting_stage import Squares
from tests.builders.crashing_stage import DivisibleWords
from tests.builders.git_servers import commit, new
from tests.builders.test_corpus import contents, repository, topic_of

pytest.importorskip("datatrove")

SLURM = Path(__file__).parent / "slurm"
HERE = Cluster(executor="local", tasks=2)
ON_SLURM = "executor: slurm\ntasks: 4\npartition: night\ntime: '4:00:00'\n"
THERE = Cluster(executor="slurm", tasks=3, partition="night", time="1:00:00", sbatch_args={"account": "us"})


def marks(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.done"))}


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A Slurm that runs its jobs on this machine, at once."""
    monkeypatch.setenv("PATH", f"{SLURM}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_FOR_SLURM", str(tmp_path / "queue"))
    monkeypatch.setenv("STAND_IN_PYTHON", sys.executable)
    monkeypatch.setattr(slurm, "EVERY", 0.05)
    (tmp_path / "queue").mkdir()
    return tmp_path / "queue"


@pytest.mark.slow
def test_a_corpus_made_by_datatrove_is_the_one_made_here(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "FILES", 2)  # three files: a shard for each of the two tasks
    pin = commit(new(tmp_path / "docs"), {"a.md": b"# A\n", "src/b.py": b"b = 1\n" * 9, "c.bin": b"\0"})
    topic = topic_of(tmp_path, repositories=repository("docs", "owner/docs", pin))
    here = build(topic, tmp_path / "here")
    there = build(topic, tmp_path / "there", cluster=HERE)
    assert here.digest == there.digest
    assert contents(here.path) == contents(there.path)


@pytest.mark.slow
def test_parts_and_marks_are_the_same_wherever_they_are_made(tmp_path):
    shards = [("a", "b"), ("c",), ("d", "e")]
    run(DivisibleWords(tmp_path / "log"), shards, tmp_path / "here")
    run(DivisibleWords(tmp_path / "log"), shards, tmp_path / "there", cluster=HERE)
    assert marks(tmp_path / "here") == marks(tmp_path / "there")
    (tmp_path / "here" / "words" / "000001.part").unlink()
    (tmp_path / "log").unlink()
    parts = run(DivisibleWords(tmp_path / "log"), shards, tmp_path / "here", cluster=HERE)
    assert [part.read_text() for part in parts] == ["a\nb\n", "c\n", "d\ne\n"]
    assert [line.split()[1] for line in (tmp_path / "log").read_text().splitlines()] == ["c"]


def test_slurm_gets_a_job_with_a_task_for_each_share(tmp_path, queue):
    shards = list(range(7))
    parts = run(Squares(tmp_path / "log"), shards, tmp_path / "parts", cluster=THERE)
    assert [part.read_text() for part in parts] == ["0", "1", "4", "9", "16", "25", "36"]
    job = (queue / "1").read_text()
    for line in ("--array=0-2%3", "--partition=night", "--time=1:00:00", "--account=us", "--mem-per-cpu=4G"):
        assert f"#SBATCH {line}\n" in job
    # shards of one source follow each other, and so do those of one task
    told = [json.loads(line) for line in (queue / "tasks").read_text().splitlines()]
    assert sorted(told) == [["1", "0"], ["1", "1"], ["1", "2"]]
    run(Squares(tmp_path / "log"), shards, tmp_path / "parts", cluster=THERE)
    assert not (queue / "3").exists()


@pytest.mark.slow
def test_what_goes_wrong_in_a_task_is_said_here(tmp_path, queue):
    for cluster in (HERE, THERE):
        with pytest.raises(InputError, match=r"^no square of a bad shard$"):
            run(Squares(tmp_path / "log"), [1, "bad", 3], tmp_path / cluster.executor, cluster=cluster)
        assert (tmp_path / cluster.executor / "squares" / "000000.part").read_text() == "1"


@pytest.mark.parametrize("name", ["with space", "$(id)", "a'b", "a;b", "a\nb"])
def test_a_folder_whose_name_a_shell_would_read_otherwise_is_not_given_to_slurm(tmp_path, queue, name):
    with pytest.raises(InputError, match=r"Slurm cannot work in .*; name another folder"):
        run(Squares(tmp_path / "log"), [1], tmp_path / name, cluster=THERE)
    assert not list(queue.iterdir())


def test_a_cluster_file_that_never_ends_is_refused():
    with pytest.raises(InputError, match=r"/dev/zero, expected a file of at most .* bytes, got more"):
        Cluster.read(Path("/dev/zero"))


def test_a_job_that_is_gone_is_not_waited_for(tmp_path, queue):
    lost = THERE.model_copy(update={"env_command": "exit 0"})
    with pytest.raises(InputError, match=r"3 of 3 parts were not made; see .*squares-.* to go on"):
        run(Squares(tmp_path / "log"), [1, 2, 3], tmp_path / "parts", cluster=lost)
    parts = run(Squares(tmp_path / "log"), [1, 2, 3], tmp_path / "parts")
    assert [part.read_text() for part in parts] == ["1", "4", "9"]


def test_a_job_that_nobody_waits_for_any_more_is_cancelled(tmp_path, queue, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(slurm, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(Squares(tmp_path / "log"), [1, 2, 3], tmp_path / "parts", cluster=THERE)
    assert (queue / "cancelled").read_text() == "1"


def test_slurm_that_is_not_there_or_refuses_is_said(tmp_path, queue, monkeypatch):
    (queue / "full").touch()
    with pytest.raises(InputError, match="Slurm refuses the job, got exit code 1 of sbatch"):
        run(Squares(tmp_path / "log"), [1], tmp_path / "parts", cluster=THERE)
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    with pytest.raises(InputError, match="run it on a login node"):
        run(Squares(tmp_path / "log"), [1], tmp_path / "parts", cluster=THERE)
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no Slurm, got no program 'sbatch'"):
        run(Squares(tmp_path / "log"), [1], tmp_path / "parts", cluster=THERE)


@pytest.mark.parametrize(
    "text, message",
    [
        ("executor: slurm\ntasks: 4\n", "expected partition and time, which Slurm needs"),
        ("executor: pbs\ntasks: 4\n", "got executor: input should be 'local', 'slurm' or 'ray'"),
        ("executor: local\n", "got tasks: field required"),
        ("executor: local\ntasks: 0\n", "got tasks: input should be greater than or equal to 1"),
        ("executor: local\ntasks: 4\nnodes: 2\n", "got nodes: extra inputs are not permitted"),
        ("executor: slurm\ntasks: 4\npartition: a\ntime: 4:00:00\n", "quotes"),
        ("- local\n", "expected keys and their values"),
        ("executor: [", r"cluster\.yaml:1"),
        (f"{ON_SLURM}qos: 'a b'\n", "got 'qos': 'a b'"),
        (f'{ON_SLURM}qos: "high\\nrm -r x"\n', r"got 'qos': 'high\\nrm -r x'"),
        (f"{ON_SLURM}sbatch_args: {{account: $(id)}}\n", r"got 'account': '\$\(id\)'"),
        (f'{ON_SLURM}sbatch_args: {{"a\\nb": 1}}\n', r"got 'a\\nb': 'a\\nb'"),
        ("executor: slurm\ntasks: 4\ntime: '1'\npartition: 'a # b'\n", "got 'partition': 'a # b'"),
        ("executor: slurm\ntasks: 4\npartition: a\ntime: \"1:00 --wrap='x'\"\n", "got 'time': "),
    ],
)
def test_a_file_that_describes_no_cluster_is_refused(tmp_path, text, message):
    (tmp_path / "cluster.yaml").write_text(text)
    with pytest.raises(FreshStackError, match=message):
        Cluster.read(tmp_path / "cluster.yaml")


@pytest.mark.slow
def test_the_command_reads_a_cluster_from_a_file(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A")
    topic_of(tmp_path, documents="  - path: docs\n")
    (tmp_path / "cluster.yaml").write_text("executor: local\ntasks: 2\n")
    command = [sys.executable, "-m", "builders", "corpus", tmp_path / "topic.yaml", "--out", tmp_path / "out"]
    found = subprocess.run(
        [*command, "--cluster", tmp_path / "cluster.yaml", "--json"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    assert json.loads(found.stdout)["counts"]["documents"] == 1


def test_a_missing_cluster_file_is_said(tmp_path):
    with pytest.raises(InputError, match=r"cannot read '.*no\.yaml', expected a YAML file, got no such file"):
        Cluster.read(tmp_path / "no.yaml")


@pytest.mark.slow
def test_ray_makes_the_same_parts(tmp_path):
    pytest.importorskip("ray")
    script = "import sys; from pathlib import Path; from tests.builders.test_cluster import with_ray; with_ray(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=Path(__file__).parents[2], check=True, timeout=300)
    parts = sorted((tmp_path / "parts" / "squares").glob("*.part"))
    assert [part.read_text() for part in parts] == ["1", "4", "9"]


def with_ray(folder):
    """Square three numbers, in a process of its own, since Ray leaves threads and warnings behind."""
    cluster = Cluster(executor="ray", tasks=2, workers=1, mem_per_cpu_gb=1)
    run(Squares(folder / "log"), [1, 2, 3], folder / "parts", cluster=cluster)
