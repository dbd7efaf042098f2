"""The exceptions of the package, and how their one-line messages are built.

    FreshStackError                    exit code 2
    ├── InputError                     something that was given cannot be used
    │   ├── UnknownNameError           no dataset, query, document, retriever … of that name
    │   ├── RecordError                a record with an id or a field that is not allowed
    │   ├── RunError                   a run that no ranking can be made of
    │   │   └── RunFileError           the same in a file, with its line
    │   ├── SnapshotError              a folder that is no snapshot, or one that cannot be read
    │   └── MeasureError               a measure that cannot be parsed or computed
    ├── HubError                       the Hugging Face Hub does not give, or take, what was asked for
    ├── EndpointError                  a language model's server does not give what was asked for
    ├── MissingExtraError              a package of an extra is not installed
    ├── BudgetError                    exit code 1: the next call of a model does not fit into the budget
    └── NotComparableError             exit code 3: two things that must not be compared

A message says what is wrong, what was expected, what was got, and what to do next.
"""

import difflib
from collections.abc import Iterable
from pathlib import Path

SHOWN = 80
"""Characters of a foreign value that a message may hold."""


def shown(value: object) -> str:
    """Return the value as a short, printable, one-line text, safe to put into a message.

    Args:
        value: Anything, of any size, from anyone.
    """
    if isinstance(value, str | bytes):
        text = repr(value[: SHOWN + 1])
        cut = len(value) > SHOWN
    else:
        try:
            text = repr(value)
        except Exception as error:  # a foreign value may do anything; a whole number may have too many digits
            text = f"something that cannot be shown ({type(error).__name__})"
        cut = len(text) > SHOWN
    text = text.encode("ascii", "backslashreplace").decode() if not text.isprintable() else text
    return text[:SHOWN] + "…" if cut else text


def shown_path(path: Path | str) -> str:
    """Return a path for a message: quoted, on one printable line, and whole, since people look for its end."""
    text = repr(str(path))
    return text if text.isprintable() else text.encode("ascii", "backslashreplace").decode()


class FreshStackError(Exception):
    """The root of every error that the package raises on purpose.

    Args:
        what: What is wrong, with the name of the thing.
        expected: What would have been right.
        got: What was found instead, already made safe with ``shown``.
        hint: The next step.
    """

    exit_code = 2

    def __init__(self, what: str, *, expected: str = "", got: str = "", hint: str = "") -> None:
        self.what, self.expected, self.got, self.hint = what, expected, got, hint
        parts = [what]
        if expected:
            parts.append(f"expected {expected}")
        if got:
            parts.append(f"got {got}")
        super().__init__(", ".join(parts) + (f"; {hint}" if hint else ""))


class InputError(FreshStackError):
    """Something that was given cannot be used."""


class UnknownNameError(InputError):
    """Nothing has that name; the message offers the nearest ones.

    Args:
        kind: What was looked for, in the field's word: dataset, query, document.
        name: The name that is not known.
        known: The names that are.
        hint: The next step; the nearest known names when not given.
        total: How many names are known, when ``known`` holds only some of them.
    """

    def __init__(
        self, kind: str, name: object, known: Iterable[str] = (), *, hint: str = "", total: int | None = None
    ) -> None:
        names = sorted(known)
        near = _nearest(str(name)[:200], names[:10_000])
        if not hint and near:
            hint = "did you mean " + " or ".join(shown(n) for n in near) + "?"
        elif not hint and names:
            some = ", ".join(shown(n) for n in names[:5])
            more = (len(names) if total is None else total) - 5
            hint = f"known: {some}" + (f" and {more} more" if more > 0 else "")
        super().__init__(f"unknown {kind} {shown(name)}", hint=hint)


_NEAR = 0.5
"""How like a name another one must at least be to be offered for it, from 0 to 1."""
_WORSE = 0.15
"""How much less like it than the nearest one another may be."""


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three names that somebody may have meant, the nearest first.

    Capitals count for nothing: who wrote one letter small meant the name as surely as who wrote all of them so. What two
    names have in common before their last slash says nothing of what was meant, and is not counted; nor is it
    in the known ones for a name without any.
    """
    owner, _, rest = name.rpartition("/")
    matcher = difflib.SequenceMatcher()
    found = []
    for other in known:
        others, _, own = other.rpartition("/")
        typed, meant = (rest, own) if owner in ("", others) else (name, other)
        matcher.set_seq2(typed.lower())
        matcher.set_seq1(meant.lower())
        if matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            found.append((matcher.ratio(), other))
    best = sorted(found, reverse=True)[:3]
    return [other for likeness, other in best if likeness >= max(_NEAR, best[0][0] - _WORSE)]


class RecordError(InputError):
    """A record holds an id or a field that is not allowed."""


class RunError(InputError):
    """No ranking can be made of a run."""


class RunFileError(RunError):
    """A run file cannot be read.

    Args:
        path: The file.
        line: Its line, counted from 1; 0 when the file has no lines.
        what: What is wrong there; ``wrong`` holds it without the place.
        expected: What would have been right.
        got: What was found instead.
        hint: The next step.
        kind: The kind of fault, one of ``runs.KINDS``.
    """

    def __init__(
        self,
        path: Path | str,
        line: int,
        what: str,
        *,
        expected: str = "",
        got: str = "",
        hint: str = "",
        kind: str = "content",
    ) -> None:
        self.path, self.line, self.kind, self.wrong = Path(path), line, kind, what
        where = str(path) if str(path).isprintable() else shown_path(path)[1:-1]
        where += f":{line}" if line else ""
        super().__init__(f"{where}: {what}", expected=expected, got=got, hint=hint)


class SnapshotError(InputError):
    """A folder is no snapshot, or one that cannot be read."""


class MeasureError(InputError):
    """A measure cannot be parsed or computed."""


class HubError(FreshStackError):
    """The Hugging Face Hub, or its cache on this machine, does not give or take what was asked for."""


class EndpointError(FreshStackError):
    """The server of a language model, or what stands in for it, answers no call as it is set up."""


class MissingExtraError(FreshStackError):
    """A package of an extra is not installed.

    Args:
        package: The package that could not be imported.
        extra: The extra that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package} is not installed", hint=f"pip install 'freshstack-datasets[{extra}]'")


class BudgetError(FreshStackError):
    """The next call of a model does not fit into what a run may spend; all that was answered is kept."""

    exit_code = 1


class NotComparableError(FreshStackError):
    """Two things must not be compared with each other."""

    exit_code = 3
