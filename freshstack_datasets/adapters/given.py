"""What is asked of a dataset or a run before it goes to a library."""

from collections.abc import Iterable

from freshstack_datasets.errors import InputError, RecordError, shown
from freshstack_datasets.loading import Dataset


def check_dataset(data: object) -> None:
    """Refuse what is no dataset: its name, most often.

    Raises:
        InputError: It is none.
    """
    if not isinstance(data, Dataset):
        got = f"{shown(data)} ({type(data).__name__})"
        raise InputError(
            "a dataset", expected="one that was loaded", got=got, hint="load makes one of a name or a folder"
        )


def check_for_c(*kinds: Iterable[str]) -> None:
    """Refuse ids that a program in C, such as trec_eval within a library, would read only the beginning of.

    It would take two of them for one, and stop the whole process at that, or score one as the other.

    Args:
        kinds: The ids, each kind on its own.

    Raises:
        RecordError: One has a NUL; the first is named.
    """
    for ids in kinds:
        found = next((value for value in ids if "\0" in value), None)
        if found is not None:
            hint = "score with this package, which takes such ids"
            raise RecordError(f"the id {shown(found)}", expected="no NUL, where trec_eval ends an id", hint=hint)
