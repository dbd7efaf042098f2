"""What ``submission.yaml`` may say. It never holds scores: those are computed from the runs."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from freshstack_datasets.errors import shown
from freshstack_datasets.recipe import Model, as_tuple
from freshstack_datasets.typed_files import RefusedError
from leaderboard.submission.values import (
    Commit,
    Contact,
    Day,
    Length,
    License,
    Line,
    ModelId,
    Paragraph,
    Parameters,
    Prompt,
    Quantity,
    Revision,
    Seed,
    Url,
    answered,
)

Kind: TypeAlias = Literal["sparse", "dense", "late-interaction", "hybrid", "fusion", "rerank", "agentic", "llm"]
Answer: TypeAlias = Literal["yes", "no", "unknown"]
Setting: TypeAlias = Literal["inference", "oracle"]

Told: TypeAlias = Annotated[Answer, BeforeValidator(answered)]
Components: TypeAlias = Annotated[tuple[Line, ...], BeforeValidator(as_tuple), Field(max_length=50)]
TrainingData: TypeAlias = Annotated[tuple[Line, ...], BeforeValidator(as_tuple), Field(max_length=1_000)]

_WITHOUT_MODELS = ("sparse", "fusion")
"""Kinds of systems that there are without any model: BM25, and several of it fused."""


def is_benchmark(dataset: str) -> bool:
    """Tell whether the name of something that a model was trained on is that of this benchmark.

    Args:
        dataset: The name, such as ``FreshStackRetrieval``.
    """
    return "freshstack" in dataset.lower()


class Team(Model):
    """Who hands it in.

    Args:
        name: What the team is called.
        contact: An e-mail address, or a page where they can be asked.
        affiliation: Whom they work for.
    """

    name: Line
    contact: Contact
    affiliation: Line | None = None


class System(Model):
    """What was run.

    Args:
        name: What it is called.
        kind: What kind of system it is, by its last step.
        setting: ``inference`` when it searched with the question alone; ``oracle`` when it saw answers or nuggets.
        components: The retrievers that it is made of, as ``freshstack retrieve --retriever`` names them where it knows
            them: ``bm25``, ``dense:MODEL`` …
        url: Where it is described.
        description: What it does, in a few sentences.
    """

    name: Line
    kind: Kind
    setting: Setting
    components: Components = ()
    url: Url | None = None
    description: Paragraph | None = None


class UsedModel(Model):
    """A model that took part.

    Args:
        id: Its name on the Hub, or that of its maker's interface.
        revision: The commit, or the version or day of an interface.
        parameters: How many it has; null where that is not known.
        license: Its licence by SPDX, ``LicenseRef-proprietary`` for a closed one; null where none is known.
        open_weights: Whether its weights can be had.
        release_date: The day it came out.
        training_cutoff: The last day of what it was trained on.
        query_prompt: What is put before queries.
        document_prompt: What is put before documents.
        max_query_tokens: Where queries are cut.
        max_document_tokens: Where documents are cut.
        dimensions: The length of its vectors.
    """

    id: ModelId
    revision: Revision
    parameters: Parameters | None
    license: License | None
    open_weights: bool | None = None
    release_date: Day | None = None
    training_cutoff: Day | None = None
    query_prompt: Prompt | None = None
    document_prompt: Prompt | None = None
    max_query_tokens: Length | None = None
    max_document_tokens: Length | None = None
    dimensions: Length | None = None

    @model_validator(mode="after")
    def _came_out_after_its_training(self) -> Self:
        if self.release_date and self.training_cutoff and self.training_cutoff > self.release_date:
            expected = f"a day that is not after its release, {self.release_date}"
            raise RefusedError(expected, str(self.training_cutoff), place=("training_cutoff",))
        return self


class Training(Model):
    """What the models may have seen.

    Args:
        on_benchmark: Whether questions, answers or judgments of the benchmark were trained on.
        on_its_questions_site: Whether posts of the forum that the questions are from were trained on.
        datasets: What was trained on, where it is known.
        statement: What else there is to say.
    """

    on_benchmark: Told
    on_its_questions_site: Told
    datasets: TrainingData = ()
    statement: Paragraph | None = None

    @model_validator(mode="after")
    def _agrees_with_its_data(self) -> Self:
        if self.on_benchmark != "yes" and (told := next(filter(is_benchmark, self.datasets), None)):
            hint = f"{shown(told)} is among what was trained on"
            raise RefusedError("yes", self.on_benchmark, hint, ("on_benchmark",))
        return self


class Reproduce(Model):
    """How to make the runs again.

    Args:
        repository: Where the code is.
        commit: Its commit.
        command: What to type.
        environment: What has to be installed.
        seed: Where random numbers start, where there are any.
    """

    repository: Url
    commit: Commit
    command: Paragraph
    environment: Paragraph | None = None
    seed: Seed | None = None


class Latency(Model):
    """How long it takes, after a query that did not count.

    Args:
        query_ms_p50: The median time of a query, in milliseconds.
        query_ms_p95: That which 95 of 100 queries stay below.
        index_seconds: The time to index the corpus.
    """

    query_ms_p50: Quantity
    query_ms_p95: Quantity | None = None
    index_seconds: Quantity | None = None

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.query_ms_p95 is not None and self.query_ms_p95 < self.query_ms_p50:
            expected = f"at least the median, {self.query_ms_p50:,}"
            raise RefusedError(expected, f"{self.query_ms_p95:,}", place=("query_ms_p95",))
        return self


class Submission(Model):
    """One system on one board.

    Args:
        schema_version: The version of this format.
        date: The day it was handed in.
        team: Who hands it in.
        system: What was run.
        models: The models that took part; none for BM25.
        training: What they may have seen.
        reproduce: How to make the runs again.
        hardware: What it ran on; null where nobody noted it.
        latency: How long it takes; null where nobody measured it.
        license: The licence of the run files, by SPDX.
    """

    schema_version: Literal[1]
    date: Day
    team: Team
    system: System
    models: Annotated[tuple[UsedModel, ...], BeforeValidator(as_tuple), Field(max_length=50)]
    training: Training
    reproduce: Reproduce
    hardware: Line | None
    latency: Latency | None
    license: License

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for misfit in self._misfits():
            raise misfit
        return self

    def _misfits(self) -> Iterator[RefusedError]:
        """Yield why members that are fine by themselves do not go together."""
        if not self.models and self.system.kind not in _WITHOUT_MODELS:
            hint = "only sparse systems and fusions of them have none"
            yield RefusedError(f"the models of a system of kind {self.system.kind}", "none", hint, ("models",))
        seen: set[tuple[str, str]] = set()
        for number, model in enumerate(self.models):
            if (model.id, model.revision) in seen:
                yield RefusedError("each model once", shown(model.id), place=("models", number, "id"))
            seen.add((model.id, model.revision))
            for name in ("release_date", "training_cutoff"):
                day = getattr(model, name)
                if day is not None and day > self.date:
                    expected = f"a day that is not after that of the submission, {self.date}"
                    yield RefusedError(expected, str(day), place=("models", number, name))
