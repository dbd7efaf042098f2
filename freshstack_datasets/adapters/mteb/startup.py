"""Make FreshStack's tasks known to MTEB as soon as a program imports it.

``freshstack mteb install`` copies this file into an environment. The copy stands alone: where MTEB or this package is
not installed it does nothing, it never raises, and until MTEB is imported it costs a comparison an import.
``FRESHSTACK_MTEB_AUTOLOAD=0`` switches it off, and ``freshstack mteb uninstall`` removes it.
"""

import os
import sys

TYPE_CHECKING = False  # typing itself would have to be imported whenever Python starts
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_PACKAGE = "freshstack_datasets.adapters.mteb"


class _AtImport:
    """A finder that finds nothing of its own, but has something done after the import of MTEB."""

    def __init__(self) -> None:
        self._looking = False

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Return what the other finders find for MTEB, and None for everything else."""
        if name != "mteb" or self._looking:
            return None
        from importlib.util import find_spec

        self._looking = True
        try:
            spec = find_spec(name)
            if spec is not None and spec.loader is not None and spec.origin is not None:  # a mere folder has none
                _then_register(spec.loader)
            return spec
        except Exception:  # whatever it is, the other finders will tell
            return None
        finally:
            self._looking = False


def _then_register(loader: object) -> None:
    """Let a loader register the tasks after it has run its module, once; it stays the module's own loader."""
    run = loader.exec_module  # type: ignore[attr-defined]  # every loader of a module has it

    def exec_module(module: "ModuleType") -> None:
        del loader.exec_module  # type: ignore[attr-defined]
        run(module)
        _register()

    loader.exec_module = exec_module  # type: ignore[attr-defined]


def _register() -> None:
    try:
        from freshstack_datasets.adapters.mteb import register
    except ImportError:  # the package was uninstalled
        return
    try:
        if not _being_imported():  # then whoever imports it registers, or does not want to
            register()
    except Exception as error:
        if sys.stderr is not None:
            sys.stderr.write(
                f"freshstack: MTEB does not know its tasks: {error}; FRESHSTACK_MTEB_AUTOLOAD=0 switches this off\n"
            )


def _being_imported() -> bool:
    """Tell whether MTEB is imported by a module of the package that is not complete yet."""
    modules = [module for name, module in sys.modules.items() if name.startswith(_PACKAGE + ".")]
    return any(getattr(getattr(module, "__spec__", None), "_initializing", False) for module in modules)


def activate() -> None:
    """Wait for the import of MTEB, unless that is switched off."""
    off = os.environ.get("FRESHSTACK_MTEB_AUTOLOAD", "").lower() in ("0", "no", "off", "false")
    if not off and not any(type(finder).__name__ == _AtImport.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _AtImport())
