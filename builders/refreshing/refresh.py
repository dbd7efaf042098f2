"""The stages of a refresh: those of a build, with what an earlier snapshot knows carried over, and the drift in the end."""

import json
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from builders.assembling.assemble import UNFILTERED, dataset_of
from builders.assembling.filtering import Filtering, filtered_of
from builders.assembling.parts import parts_of
from builders.building import forecast, sources
from builders.building.stages import FromSources, FromStages, Stage, stages_of
from builders.judging import Judging
from builders.pipeline.asking import Asking
from builders.pipeline.reading import nuggets_of, topic_corpus
from builders.pipeline.records import Summary
from builders.pipeline.step import Made
from builders.pipeline.work import CORPUS, QUESTIONS, Work
from builders.pooling import Pooling
from builders.refreshing.carrying import Carrying
from builders.refreshing.documents import Moves, moves_of
from builders.refreshing.drift import Drift, drift
from builders.refreshing.earlier import CarryingStore, Earlier
from builders.refreshing.nuggets import CarriedNuggets, open_build
from builders.refreshing.questions import Merging, fates_of
from builders.refreshing.rules import KEPT_OUT, RETIRED, Rules
from builders.refreshing.sides import side_of, side_of_work
from builders.refreshing.systems import Systems, searched, systems
from builders.searches import Searches
from builders.topics import Topic
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.estimates import Estimate, StageEstimate

FILE = "drift.json"
"""What the trace of a refreshed snapshot tells of its drift."""


@dataclass(frozen=True)
class Refresh:
    """A refresh.

    Args:
        topic: The topic.
        given: What newer questions and the documents are made from.
        earlier: The earlier snapshot.
        rules: By which rules its questions are kept.
        asking: Who is asked for what is new. From now on it also knows what the earlier snapshot's calls said.
        snapshot: What the newer snapshot is called.
        retrievers: The retrievers that search both snapshots, for Kendall's tau.
    """

    topic: Topic
    given: sources.Given
    earlier: Earlier
    rules: Rules
    asking: Asking
    snapshot: str
    retrievers: Sequence[str] = ("bm25",)
    _moves: dict[str, Moves] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        name, manifest = dataset_of(self.topic), self.earlier.manifest
        if manifest.dataset.removesuffix(UNFILTERED) != name:
            expected, got = f"a snapshot of {name}, as the topic is called", manifest.dataset
            raise InputError("what is refreshed", expected=expected, got=got, hint="take the topic's own snapshot")
        if self.snapshot <= manifest.snapshot:
            expected = f"a later one than {manifest.snapshot}, which is refreshed"
            raise InputError("--snapshot", expected=expected, got=self.snapshot)
        self.asking.store = CarryingStore(self.asking.store.path, self.earlier.calls)

    def stages(self) -> list[Stage]:
        """Return the stages but the last one, in their order."""
        topic, asking = self.topic, self.asking
        return [
            FromSources(Merging(topic, self.given, self.earlier, self.rules)),
            FromSources(sources.Corpus(topic, self.given)),
            FromStages(CarriedNuggets(topic, asking, self.earlier)),
            FromStages(Searches(topic, asking)),
            FromStages(Pooling(topic, asking)),
            FromStages(Judging(topic, asking, Carrying(self.earlier, self.moves))),
            FromStages(Filtering(topic, asking.settings)),
        ]

    def moves(self, work: Work) -> Moves:
        """Return what became of the earlier documents.

        Args:
            work: The folder of the refresh, with the corpus.

        Raises:
            InputError: The corpus is not there.
        """
        digest = work.digest(CORPUS)
        if digest not in self._moves:
            self._moves.clear()
            self._moves[digest] = moves_of(self.earlier.whole.corpus, topic_corpus(work))
        return self._moves[digest]

    def drift(self, work: Work) -> tuple[Drift, Systems]:
        """Return what drifts, when all stages but the last one are done.

        Documents, questions and nuggets are those of the unfiltered snapshots; systems are scored on the filtered ones.

        Args:
            work: The folder of the refresh.

        Raises:
            InputError: A stage is not done.
        """
        name = dataset_of(self.topic) + (UNFILTERED if self.earlier.whole.name.endswith(UNFILTERED) else "")
        now = side_of_work(work, f"{name}@{self.snapshot}")
        before, fates = side_of(self.earlier.whole), fates_of(work)
        retired = _retired(before.queries.keys() - now.queries.keys(), fates, nuggets_of(work))
        kept_out = (str(one.get("reason")) for one in fates.values() if one.get("fate") == KEPT_OUT)
        return drift(before, now, self.moves(work), retired, kept_out), self._systems(work)

    def trace(self, work: Work) -> dict[str, bytes]:
        """Return the further files of the snapshot's trace: its drift, and what was corrected in the earlier one.

        Args:
            work: The folder of the refresh, all of whose stages are done.

        Raises:
            InputError: A stage is not done.
        """
        found, scores = self.drift(work)
        told = {**found.to_json(), "systems": scores.to_json()}
        text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
        files = {FILE: (text + "\n").encode()}
        earlier = self.earlier
        return files | {f"{earlier.manifest.snapshot}-{path.name}": path.read_bytes() for path in earlier.corrections}

    def forecast(self, work: Work) -> tuple[Estimate, dict[str, str]]:
        """Return what the refresh will cost, and what is assumed for that, by the stage; no model is asked.

        What costs nothing is made, and kept for the refresh itself. As long as questions are open, it is the cost of
        these alone: which documents are new to the pools of the others is known when their pools are made.

        Args:
            work: The folder of the refresh.

        Raises:
            InputError: What it is made from cannot be read.
        """
        stages = self.stages()
        for stage in stages[:2]:
            stage.run(work)
        fresh = open_build(self.topic, work)
        if fresh is not None:
            _share(CORPUS, work, fresh)
            rest = stages_of(self.topic, self.asking, self.given)[2:]
            found = forecast([_Made(QUESTIONS), _Made(CORPUS), *rest], fresh, self.asking.settings)
            return found.estimate, found.assumed
        costs: list[StageEstimate] = []
        for stage in stages[2:]:
            if stage.kept(work) is not None:
                continue
            costs += stage.estimate(work)
            if any(cost.calls for cost in costs):
                break
            stage.run(work)
        return Estimate(tuple(costs)), {}

    def _systems(self, work: Work) -> Systems:
        data, kept = self.earlier.data, set(filtered_of(work).kept)
        parts = parts_of(work).only(kept)
        if not parts.questions:
            return Systems({})
        now = parts.scored(dataset_of(self.topic), self.snapshot)
        return systems(
            searched(self.retrievers, data.corpus, list(data.queries), data),
            searched(self.retrievers, topic_corpus(work), parts.questions, now),
        )


def _retired(
    query_ids: Iterable[str], fates: Mapping[str, Mapping[str, Any]], nuggets: Container[object]
) -> Iterator[str]:
    """Yield why earlier questions are not in the snapshot: by a rule, or as nothing of them could be judged."""
    for query_id in query_ids:
        fate = fates.get(query_id, {})
        if fate.get("fate") == RETIRED:
            yield str(fate.get("reason"))
        else:
            yield "retired: no document judged" if query_id in nuggets else "retired: no nuggets"


@dataclass(frozen=True)
class _Made:
    """A stage that is there and stays as it is."""

    name: str

    def kept(self, work: Work) -> Summary | None:
        return Summary({})

    def run(self, work: Work) -> Made:
        return Made(self.name, Summary({}), kept=True)

    def estimate(self, work: Work) -> list[StageEstimate]:
        return []


def _share(stage: str, source: Work, to: Work) -> None:
    """Let a build have the folder of a stage of another one."""
    place = to.path / stage
    if place.is_symlink():
        place.unlink()
    shutil.rmtree(place, ignore_errors=True)
    place.symlink_to((source.path / stage).absolute(), target_is_directory=True)
