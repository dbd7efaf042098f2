"""Which repositories a tag stands for, where no topic says so: a file that maps tags to addresses."""

from collections.abc import Iterator
from pathlib import Path

from builders.topics import addresses
from builders.topics.new import name_of
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.typed_files import bytes_of, content_of
from freshstack_datasets.typed_files.refused import RefusedError

_WHAT = "a file that maps tags to repositories"


def read_map(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield tag, name and address of every repository of a file such as ``chromadb: https://github.com/chroma-core/chroma``.

    Args:
        path: The file, YAML; a tag may have a list of addresses.

    Raises:
        InputError: It cannot be read, or says something else.
    """
    name = shown_path(path)[1:-1]
    found = content_of(bytes_of(path, _WHAT), name)
    for tag, told in found.value.items():
        where = f"{name}:{found.lines[tag,]}, {shown(tag)}"
        for address in told if isinstance(told, list) else [told]:
            if not isinstance(address, str):
                raise InputError(where, expected="the address of a repository, or a list of such", got=_got(address))
            try:
                url = addresses.checked(address, path.parent.absolute())
            except RefusedError as error:
                raise InputError(where, expected=error.expected, got=error.got, hint=error.hint) from None
            yield tag.lower(), name_of(url), url


def _got(value: object) -> str:
    return "nothing" if value is None else shown(str(value))
