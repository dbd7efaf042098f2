"""What a manifest tells of a snapshot's making: sources, recipe, generator."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from freshstack_datasets.errors import shown

Short = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00-\x1f\x7f]+$")]
Long = Annotated[str, StringConstraints(max_length=20_000)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]
Count = Annotated[int, Field(ge=0, le=10**12)]
_Id = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\t\r\n]+\z")]


def _of_64_bits(settings: dict[str, Any]) -> dict[str, Any]:
    """Refuse larger whole numbers, which whoever reads the JSON as floats would round."""
    for name, value in settings.items():
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            wanted = "whole numbers of at most 64 bits, or texts with their digits"
            raise ValueError(f"{wanted}, got {shown(value)} for {shown(name)}")
    return settings


_Scalar = bool | int | float | Long | None
_Parameters = Annotated[dict[Short, _Scalar], AfterValidator(_of_64_bits)]
_Settings = Annotated[dict[Short, _Scalar | list[Long]], AfterValidator(_of_64_bits)]


def as_tuple(value: object) -> object:
    """Take lists where tuples stand: JSON has no tuples, and people write lists."""
    return tuple(value) if isinstance(value, list) else value


class Model(BaseModel):
    """What all models of a manifest have in common: they are frozen, strict and know all their members."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Source(Model):
    """Something that a snapshot was made from.

    Args:
        url: Where it is.
        name: What it is called.
        commit: The commit, where it is a repository.
        date: The day of its content or of its download, ISO 8601.
        sha256: The digest of the file that was read, where it was one file.
        license: Its licence.
        counts: What was taken from it: documents, queries, files ….
    """

    url: Short
    name: Short | None = None
    commit: Short | None = None
    date: Short | None = None
    sha256: Sha256 | None = None
    license: Short | None = None
    counts: dict[Short, Count] = Field(default_factory=dict)


class Filter(Model):
    """A rule that kept something out.

    Args:
        name: The rule.
        dropped: How many it dropped.
        reason: Why it drops them.
        ids: The ids of what it dropped, where they are told here.
    """

    name: Short
    dropped: Count
    reason: Long = ""
    ids: Annotated[Annotated[tuple[_Id, ...], Field(max_length=100_000)] | None, BeforeValidator(as_tuple)] = None


class Tool(Model):
    """A chunker or tokenizer.

    Args:
        name: What it is called.
        version: Its version.
        parameters: How it was set.
    """

    name: Short
    version: Short
    parameters: _Parameters = Field(default_factory=dict)


class Recipe(Model):
    """How a snapshot was made.

    Args:
        builder: The builder's name.
        parameters: What it was told.
        topic_sha256: The digest of the topic file.
        chunker: What cut files into documents.
        tokenizer: What counted tokens.
        prompts: From a prompt's name to the digest of its text.
        models: From a stage to the model that ran it.
        pool: How the documents to judge were chosen.
        filters: What was dropped and why.
    """

    builder: Short | None = None
    parameters: _Settings = Field(default_factory=dict)
    topic_sha256: Sha256 | None = None
    chunker: Tool | None = None
    tokenizer: Tool | None = None
    prompts: dict[Short, Sha256] = Field(default_factory=dict)
    models: dict[Short, Short] = Field(default_factory=dict)
    pool: _Settings = Field(default_factory=dict)
    filters: Annotated[tuple[Filter, ...], BeforeValidator(as_tuple)] = ()


class Generator(Model):
    """The program that wrote a snapshot.

    Args:
        name: Its name.
        version: Its version.
    """

    name: Short
    version: Short
