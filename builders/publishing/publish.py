"""Publishing a snapshot: looking, one commit, one tag, and the proof that it arrived. It may be begun any number of times.

Whatever fails, the next run looks at the Hub first and does only what is left to do; so does the same run where the
failure may go away by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import sleep
from typing import Literal

from builders.publishing import commit as writes
from builders.publishing.commit import Step, decide
from builders.publishing.look import MAIN, Repository, Seen
from builders.publishing.patience import Patience
from builders.publishing.plan import Plan, Prepared, prepare
from builders.publishing.proof import prove
from builders.secrets import Allowed
from freshstack_datasets.errors import HubError, InputError, SnapshotError, shown
from freshstack_datasets.hub.words import unanswered
from freshstack_datasets.verification import Problem

State = Literal["published", "unchanged", "proposed", "merged", "planned"]

_RECENT = 10
"""How many pull requests are looked into."""


@dataclass(frozen=True)
class Published:
    """What became of a snapshot.

    Args:
        prepared: The snapshot.
        repository: Where it goes.
        address: Where people look at it.
        state: ``published`` by this run; ``unchanged`` when it was before; ``proposed`` as a pull request, or ``merged``
            when main has it, but no tag says so; or only ``planned``.
        plan: What the commit did, or would do.
        branch: The branch that the commit is on.
        commit: The commit that holds the snapshot, None when there is none yet.
        tagged: Whether that commit had its tag before this run.
        new: Whether there was no repository before.
        pull_request: The address of the pull request, "" when there is none.
        problems: What is wrong with what came back from the Hub.
        differing: Files that are on the Hub with other bytes, though the fingerprint is the same.
        unknown: Why it is not known what the repository holds, "" when it is.
    """

    prepared: Prepared
    repository: str
    address: str
    state: State
    plan: Plan
    branch: str = MAIN
    commit: str | None = None
    tagged: bool = False
    new: bool = False
    pull_request: str = ""
    problems: tuple[Problem, ...] = ()
    differing: tuple[str, ...] = ()
    unknown: str = ""


def publish(
    folder: Path,
    *,
    repository: str | None = None,
    private: bool = False,
    pull_request: bool = False,
    dry_run: bool = False,
    allowed: Allowed | None = None,
    say: Callable[[str], None] = lambda line: None,
    wait: Callable[[float], None] = sleep,
) -> Published:
    """Publish a snapshot on the Hub.

    Args:
        folder: The snapshot's folder.
        repository: Where it goes, ``organization/name``; the dataset's own name when not given.
        private: Make the repository a private one; one that exists must be private already.
        pull_request: Open a pull request and set no tag.
        dry_run: Only look, and say what would be done.
        allowed: Findings of secrets that are accepted.
        say: Takes lines that tell people how it goes.
        wait: Waits some seconds.

    Raises:
        SecretsError: Something in its texts seems to be secret, and is not allowed.
        SnapshotError: The snapshot must not be published, or its name is taken.
        HubError: The Hub does not take it.
    """
    from huggingface_hub import HfApi

    say(f"looking into every row of {folder}")
    prepared = prepare(folder, None if repository is None else _name(repository), allowed)
    manifest = prepared.manifest
    place = Repository(_name(repository or manifest.dataset), HfApi(library_name="freshstack-datasets"))
    patience = Patience(f"{manifest.dataset}@{manifest.snapshot} cannot be published", place.name, say, wait)
    work = _Work(prepared, place, patience, private, pull_request)
    if dry_run:
        return work.planned()
    return patience.run(work.proposed) if pull_request else work.published()


def _name(repository: str) -> str:
    """Return the name of a repository.

    Raises:
        InputError: None can have that name.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # it is put there late

    try:
        validate_repo_id(repository)
        if repository.count("/") == 1:
            return repository
    except HFValidationError:
        pass
    raise InputError("repository", expected="ORGANIZATION/NAME", got=shown(repository), hint="--repo ORG/NAME")


@dataclass
class _Work:
    """A snapshot on its way to a repository.

    Args:
        prepared: The snapshot.
        place: The repository.
        patience: Waits where the Hub asks to.
        private: Whether the repository has to be a private one.
        pull_request: Whether a pull request is meant.
        sent: What a commit of this run changed, None while there is none.
        wrote: Whether this run changed anything.
    """

    prepared: Prepared
    place: Repository
    patience: Patience
    private: bool
    pull_request: bool
    sent: Plan | None = field(default=None, init=False)
    wrote: bool = field(default=False, init=False)

    def planned(self) -> Published:
        """Return what would be done; where the Hub does not answer, as if it held nothing."""
        nothing_there = self._told("planned", self.prepared.plan(()))
        try:
            found = self.patience.run(self._decided)
        except HubError as error:
            if error.__cause__ is None or not unanswered(error.__cause__):
                raise
            return replace(nothing_there, unknown=str(error))
        if found is None:
            return replace(nothing_there, new=True)
        _, step = found
        return self._at("planned", step)

    def published(self) -> Published:
        """Publish it and prove it."""
        step, commit = self.patience.run(self._written)
        self.patience.say("reading it back from the Hub, into an empty cache")
        problems, differing = prove(self.prepared, self.place, commit, self.patience)
        told = self._at("published" if self.wrote else "unchanged", step)
        plan = self.sent or told.plan
        return replace(told, plan=plan, commit=commit, problems=tuple(problems), differing=tuple(differing))

    def proposed(self) -> Published:
        """Open a pull request, unless there is one; whoever may begin this again opens no second one."""
        found = self._decided()
        if found is None:
            hint = "check the name, or run it without --pull-request to make it"
            raise HubError(f"there is no dataset {self.place.name} that this token may see", hint=hint)
        seen, step = found
        if step.commit is not None:
            return self._at("unchanged" if step.tagged else "merged", step)
        for number, commit in sorted(seen.pull_requests.items(), reverse=True)[:_RECENT]:
            if writes.holds(self.place, commit, self.prepared.manifest):
                address = f"{self.place.address}/discussions/{number}"
                return replace(self._at("proposed", step), pull_request=address)
        self._say_sent(step, "a pull request")
        return replace(self._at("proposed", step), pull_request=writes.propose(self.prepared, self.place, step))

    def _written(self) -> tuple[Step, str]:
        """Do what is left to do, and return it with the commit that holds the snapshot."""
        seen, step = self._decided() or self._made()
        commit = step.commit
        if commit is None:
            self._say_sent(step, step.branch)
            self.wrote, self.sent = True, step.plan  # before it is done: the answer may get lost
            commit = writes.push(self.prepared, self.place, seen, step)
            self.patience.say(f"commit {commit}")
        if not step.tagged:
            self.wrote = True
            writes.tag(self.prepared, self.place, commit)
            self.patience.say(f"tag {self.prepared.manifest.snapshot} on it")
        return step, commit

    def _decided(self) -> tuple[Seen, Step] | None:
        """Return what the repository holds and what is left to do, None when there is no repository."""
        seen = self.place.look(pull_requests=self.pull_request)
        if seen is None:
            return None
        if self.private and not self.place.is_private():
            hint = f"make it private at {self.place.address}/settings, or leave out --private"
            raise HubError(self.place.name, expected="a private repository", got="a public one", hint=hint)
        step = decide(self.prepared, self.place, seen)
        if self.pull_request and step.commit is None and step.branch != MAIN:
            what = f"a pull request with {self.prepared.manifest.snapshot}, once merged, would replace a newer snapshot"
            raise SnapshotError(what, hint="run it without --pull-request: main stays what it is")
        return seen, step

    def _made(self) -> tuple[Seen, Step]:
        """Make the repository, and return what it holds and what is left to do."""
        self.patience.say(f"making the {'private ' if self.private else ''}dataset {self.place.name}")
        self.place.api.create_repo(
            self.place.name, repo_type="dataset", private=True if self.private else None, exist_ok=True
        )
        found = self._decided()
        if found is None:
            raise HubError(f"{self.place.name} was made, and cannot be seen", hint="run the same command again")
        return found

    def _say_sent(self, step: Step, where: str) -> None:
        files, size = step.plan.files, sum(file.size for file in step.plan.adds)
        self.patience.say(f"sending {len(files)} files to {where}, {size:,} bytes of them new")

    def _told(self, state: State, plan: Plan) -> Published:
        return Published(self.prepared, self.place.name, self.place.address, state, plan)

    def _at(self, state: State, step: Step) -> Published:
        told = self._told(state, step.plan)
        return replace(told, branch=step.branch, commit=step.commit, tagged=step.tagged)
