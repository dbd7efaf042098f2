"""Stages on a cluster: the same parts and marks, made by tasks that datatrove starts: here, by Slurm or by Ray.

datatrove's own marks, of tasks, are not used: what is left to do is known by ours, so that a build which was begun on
one machine goes on on a cluster, with any number of tasks, and back. All machines need the same files under the same
paths: the clone, its environment, the sources and the folder of the build.
"""

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builders.stages import slurm
from builders.stages.marks import Job
from builders.stages.records import Stage
from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError, shown, shown_path
from freshstack_datasets.typed_files import bytes_of, content_of

S = TypeVar("S")

_ROOT = Path(__file__).parents[2]
"""The clone."""
_PLAIN = re.compile(r"[\w.,:@+=%/\[\]-]+")
_EXPECTED = "letters, digits and none of a shell's own signs, such as spaces and quotes"


class Cluster(BaseModel):
    """Who does the work, and with what.

    Args:
        executor: What starts tasks: ``slurm``, ``ray``, or ``local``, which is to try things out.
        tasks: How many shares the shards of a stage are dealt into; some times as many as work at once, since shares
            take different times.
        workers: How many tasks may work at once; all of them when not given.
        cpus_per_task: Processors of a task, each of which works on one shard.
        mem_per_cpu_gb: Memory of each of these, in GB.
        partition: The partition of Slurm.
        time: After how long Slurm ends a task, such as "4:00:00".
        qos: The quality of service that Slurm is asked for, "" for its usual one.
        sbatch_args: More options of sbatch, without their dashes, such as ``account``.
        env_command: What prepares a task's shell; else the environment that is used here is used there.
        address: Where the head of Ray is, such as ``auto``; one is started here when not given.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    executor: Literal["local", "slurm", "ray"]
    tasks: int = Field(ge=1, le=1_000_000)
    workers: int | None = Field(default=None, ge=1)
    cpus_per_task: int = Field(default=1, ge=1)
    mem_per_cpu_gb: int = Field(default=4, ge=1)
    partition: str | None = None
    time: str | None = None
    qos: str = ""
    sbatch_args: dict[str, str | int] = {}
    env_command: str = ""
    address: str = ""

    @classmethod
    def read(cls, path: Path) -> "Cluster":
        """Read it from a YAML file.

        Raises:
            InputError: It cannot be read, or says something else.
        """
        try:
            found = cls.model_validate(content_of(bytes_of(path, "a YAML file"), shown_path(path)[1:-1]).value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "it"
            raise InputError(shown_path(path), got=f"{place}: {first['msg'].lower()}") from None
        if found.executor == "slurm" and not (found.partition and found.time):
            raise InputError(shown_path(path), expected="partition and time, which Slurm needs")
        for name, value in found._options():
            if not _PLAIN.fullmatch(value):
                raise InputError(shown_path(path), expected=_EXPECTED, got=f"{shown(name)}: {shown(value)}")
        return found

    def _options(self) -> Iterator[tuple[str, str]]:
        """Yield what becomes an option of sbatch: a line of a script that a shell reads as well."""
        yield from (("partition", self.partition or "-"), ("time", self.time or "-"), ("qos", self.qos or "-"))
        for name, value in self.sbatch_args.items():
            yield name, name
            yield name, str(value) or "-"

    def work(self, stage: Stage[S], todo: Sequence[Job[S]], folder: Path) -> Iterator[None]:
        """Make parts, and yield as each is made.

        Args:
            stage: The stage.
            todo: The parts.
            folder: Where logs are kept, below ``cluster``.

        Raises:
            InputError: A part cannot be made, or was not.
        """
        if self.executor == "slurm" and not _PLAIN.fullmatch(str(folder)):
            hint = "name another folder for what is made"
            raise InputError(f"Slurm cannot work in {shown_path(folder)}", expected=_EXPECTED, got="others", hint=hint)
        for job in todo:
            job.mark.unlink(missing_ok=True)  # it does not fit, and the new one is waited for
        (folder / "cluster").mkdir(exist_ok=True)
        logs = Path(tempfile.mkdtemp(prefix=f"{stage.name}-", dir=folder / "cluster"))
        step = Step(stage, todo, self.cpus_per_task, logs / "wrong")
        for number, _ in enumerate(self._started(step, min(self.tasks, len(todo)), logs)):
            if number < len(todo):
                yield
        if said := step.said():
            raise InputError(said[0])
        if left := [job for job in todo if not job.is_made()]:
            hint = f"see {shown_path(logs)}, and run the same command again to go on"
            raise InputError(f"{len(left):,} of {len(todo):,} parts were not made", hint=hint)

    def _started(self, step: "Step[S]", tasks: int, logs: Path) -> Iterator[None]:
        """Let all tasks work, and yield for parts that are made."""
        executor = self._executor(step, tasks, logs)
        if self.executor == "slurm":
            yield from slurm.submitted(executor, [job.mark for job in step.todo], step.said)
        else:
            executor.run()
            yield from (None for _ in step.todo)

    def _executor(self, step: "Step[S]", tasks: int, logs: Path) -> Any:
        """Return datatrove's executor."""
        try:
            from datatrove.executor import LocalPipelineExecutor, RayPipelineExecutor, SlurmPipelineExecutor
        except ImportError as error:
            raise MissingExtraError("datatrove", "cluster") from error
        workers = min(self.workers or tasks, tasks)
        common: dict[str, Any] = {"pipeline": [step], "tasks": tasks, "workers": workers, "logging_dir": str(logs)}
        common["skip_completed"] = False
        if self.executor == "local":
            return LocalPipelineExecutor(**common)
        size = {"cpus_per_task": self.cpus_per_task, "mem_per_cpu_gb": self.mem_per_cpu_gb}
        if self.executor == "ray":
            _ray(self.address)
            return RayPipelineExecutor(**common, **size)
        return SlurmPipelineExecutor(
            **common,
            **size,
            partition=self.partition,
            time=self.time,
            qos=self.qos,
            job_name=f"freshstack-{step.stage.name}",
            sbatch_args=dict(self.sbatch_args),
            env_command=self.env_command or _environment(),
        )


class Step(Generic[S]):
    """A step of a datatrove pipeline, which takes nothing and makes the parts of a task's share.

    Args:
        stage: The stage.
        todo: The parts of all tasks.
        processes: How many processes work in a task.
        wrong: A folder for what goes wrong.
    """

    def __init__(self, stage: Stage[S], todo: Sequence[Job[S]], processes: int, wrong: Path) -> None:
        self.stage, self.todo, self._processes, self._wrong = stage, todo, processes, wrong

    def __repr__(self) -> str:
        return f"{self.stage.name}: {len(self.todo)} parts"

    def __call__(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        """Make the parts of a share: such as follow one another, and so are of few sources."""
        from builders.stages.runner import work

        mine = self.todo[len(self.todo) * rank // world_size : len(self.todo) * (rank + 1) // world_size]
        try:
            with tempfile.TemporaryDirectory(prefix="freshstack-", ignore_cleanup_errors=True) as scratch:
                for _ in work(self.stage, mine, self._processes, Path(scratch)):
                    pass
        except Exception as error:  # told to the one who waits: not every error can be sent from a task to there
            text = str(error) if isinstance(error, FreshStackError) else f"{type(error).__name__}: {error}"
            self._wrong.mkdir(exist_ok=True)
            (self._wrong / f"{rank:06}.txt").write_text(text, encoding="utf-8", errors="backslashreplace")

    def said(self) -> list[str]:
        """Return what went wrong so far."""
        return [path.read_text(encoding="utf-8") for path in sorted(self._wrong.glob("*.txt"))]


def _environment() -> str:
    """Return the command of a shell that makes it use this very Python and these very builders."""
    programs, root = shlex.quote(str(Path(sys.executable).parent)), shlex.quote(str(_ROOT))
    return f'export PATH={programs}:"$PATH" PYTHONPATH={root}"${{PYTHONPATH:+:$PYTHONPATH}}"'


def _ray(address: str) -> None:
    """Join the cluster of Ray."""
    try:
        import ray
    except ImportError:
        raise InputError("Ray is not installed", hint="pip install 'datatrove[ray]'") from None
    if not ray.is_initialized():
        ray.init(address=address or None, runtime_env={"env_vars": {"PYTHONPATH": str(_ROOT)}})
