"""The libraries that adapters are for: imported when needed, and one line of help where one is missing or has changed."""

import re
from dataclasses import dataclass
from importlib import import_module, metadata
from types import ModuleType
from typing import Any

from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError, shown

_PACKAGE = "freshstack-datasets"


@dataclass(frozen=True, slots=True)
class Library:
    """A library that one of the extras brings.

    Args:
        name: What it is imported as.
        extra: The extra.
    """

    name: str
    extra: str

    @property
    def distribution(self) -> str:
        """What ``pip`` knows it as."""
        return self.name.replace("_", "-")

    def load(self, module: str) -> ModuleType:
        """Import a module of the library, or one of this package's that stands on it.

        Args:
            module: The module's full name.

        Raises:
            MissingExtraError: The library is not installed.
            InputError: The installed one lacks something.
        """
        try:
            import_module(self.name)  # first, since hooks at its import may need modules of this package
            return import_module(module)
        except (ImportError, AttributeError) as error:
            if isinstance(error, ModuleNotFoundError) and error.name == self.name:
                raise self._missing() from None
            raise self.moved(str(error)) from error

    def attribute(self, home: Any, name: str) -> Any:
        """Return something of one of the library's modules, or of something in there.

        Args:
            home: The module's full name, or the thing.
            name: The attribute.

        Raises:
            MissingExtraError: The library is not installed.
            InputError: The installed one does not have it.
        """
        found = getattr(self.load(home) if isinstance(home, str) else home, name, None)
        if found is None:
            raise self.moved(
                f"{home if isinstance(home, str) else getattr(home, '__name__', type(home).__name__)}.{name}"
            )
        return found

    def moved(self, what: str) -> FreshStackError:
        """Return the error for an installed library that lacks something.

        Args:
            what: What it lacks, or what Python said when that was looked for.
        """
        try:
            installed = metadata.version(self.distribution)
        except metadata.PackageNotFoundError:  # a folder of that name was imported
            return self._missing()
        return InputError(
            f"{self.distribution} {installed} lacks what this package stands on ({shown(what)})",
            expected=f"{self.distribution}{self.working() or ' of another release'}",
            got=installed,
            hint=f"pip install '{_PACKAGE}[{self.extra}]'",
        )

    def working(self) -> str:
        """Return the versions that the extra allows, such as ``>=2.22,<3``; "" when it does not say."""
        try:
            asked = metadata.requires(_PACKAGE) or ()
        except metadata.PackageNotFoundError:  # this package is on the path and was not installed
            return ""
        for requirement in asked:
            wanted, _, marker = requirement.partition(";")
            found = re.fullmatch(rf"{re.escape(self.distribution)}(?:\[[^]]*\])?\s*\(?([^)]*)\)?\s*", wanted)
            if found and re.search(rf"extra\s*==\s*['\"]{re.escape(self.extra)}['\"]", marker):
                return ",".join(sorted(found[1].replace(" ", "").split(","), reverse=True))
        return ""

    def _missing(self) -> MissingExtraError:
        return MissingExtraError(self.distribution, self.extra)
