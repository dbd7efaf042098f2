"""What ``submission.yaml`` may say. It never holds scores: those are computed from the runs."""

import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from freshstack_datasets.recipe import Model, Short, as_tuple

Kind: TypeAlias = Literal["sparse", "dense", "late-interaction", "hybrid", "fusion", "rerank", "agentic", "llm"]
Answer: TypeAlias = Literal["yes", "no", "unknown"]
Setting: TypeAlias = Literal["inference", "oracle"]

Texts: TypeAlias = Annotated[tuple[Short, ...], BeforeValidator(as_tuple)]


class Team(Model):
    """Who hands it in.

    Args:
        name: What the team is called.
        contact: An address or a page where they can be asked.
        affiliation: Whom they work for.
    """

    name: Short
    contact: Short
    affiliation: Short | None = None


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

    name: Short
    kind: Kind
    setting: Setting
    components: Texts = ()
    url: Short | None = None
    description: Short | None = None


class UsedModel(Model):
    """A model that took part.

    Args:
        id: Its name on the Hub, or that of its maker's interface.
        revision: The commit, or the version or day of an interface.
        parameters: How many it has; null where that is not known.
        license: Its licence by SPDX; null where it has none or none is known.
        open_weights: Whether its weights can be had.
        release_date: The day it came out.
        training_cutoff: The last day of what it was trained on.
        query_prompt: What is put before queries.
        document_prompt: What is put before documents.
        max_query_tokens: Where queries are cut.
        max_document_tokens: Where documents are cut.
        dimensions: The length of its vectors.
    """

    id: Short
    revision: Short
    parameters: Annotated[int, Field(ge=0, le=10**15)] | None
    license: Short | None
    open_weights: bool | None = None
    release_date: datetime.date | None = None
    training_cutoff: datetime.date | None = None
    query_prompt: Short | None = None
    document_prompt: Short | None = None
    max_query_tokens: Annotated[int, Field(ge=1, le=10**9)] | None = None
    max_document_tokens: Annotated[int, Field(ge=1, le=10**9)] | None = None
    dimensions: Annotated[int, Field(ge=1, le=10**7)] | None = None


class Training(Model):
    """What the models may have seen.

    Args:
        on_benchmark: Whether questions, answers or judgments of the benchmark were trained on.
        on_its_questions_site: Whether posts of the forum that the questions are from were trained on.
        datasets: What was trained on, where it is known.
        statement: What else there is to say.
    """

    on_benchmark: Answer
    on_its_questions_site: Answer
    datasets: Texts = ()
    statement: Short | None = None


class Reproduce(Model):
    """How to make the runs again.

    Args:
        repository: Where the code is.
        commit: Its commit.
        command: What to type.
        environment: What has to be installed.
        seed: Where random numbers start, where there are any.
    """

    repository: Short
    commit: Short
    command: Short
    environment: Short | None = None
    seed: int | None = None


Milliseconds: TypeAlias = Annotated[float, Field(ge=0, le=10**9)]


class Latency(Model):
    """How long it takes, after a query that did not count.

    Args:
        query_ms_p50: The median time of a query, in milliseconds.
        query_ms_p95: That which 95 of 100 queries stay below.
        index_seconds: The time to index the corpus.
    """

    query_ms_p50: Milliseconds
    query_ms_p95: Milliseconds | None = None
    index_seconds: Annotated[float, Field(ge=0, le=10**9)] | None = None


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
    date: datetime.date
    team: Team
    system: System
    models: Annotated[tuple[UsedModel, ...], BeforeValidator(as_tuple)]
    training: Training
    reproduce: Reproduce
    hardware: Short | None
    latency: Latency | None
    license: Short
