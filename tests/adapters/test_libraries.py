"""What is said of a library that is missing, or that has moved something, as this package's own metadata have it."""

import sys
from importlib.metadata import version
from types import ModuleType

import pytest

import freshstack_datasets as fsd
from freshstack_datasets.adapters import beir, ir_datasets, ir_measures, libraries, mteb
from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.errors import InputError, MissingExtraError


@pytest.mark.parametrize(
    ("library", "extra", "versions"),
    [
        ("ir_measures", "ir", ">=0.4.3,<0.5"),
        ("mteb", "mteb", ">=2.22,<3"),  # declared with an extra of its own
        ("ir_measures", "pyterrier", ">=0.4.3,<0.5"),  # by way of another extra
        ("ir_measures", "beir", ""),
    ],
)
def test_versions_are_those_that_the_extra_asks_for(library, extra, versions):
    assert Library(library, extra).working() == versions


def test_what_a_library_lacks_is_one_line():
    assert "\n" not in str(Library("ir_measures", "ir").moved("cannot import\nChoices"))


def test_what_a_library_itself_cannot_import_is_told_and_is_not_taken_for_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures.bootstrap", None)
    with pytest.raises(
        InputError, match=r"^ir-measures 0\.4\..* lacks .*ir_measures\.bootstrap.*, expected ir-measures>="
    ):
        Library("ir_measures", "ir").load("ir_measures.bootstrap")


def test_where_this_package_is_not_installed_the_error_names_no_versions(monkeypatch):
    monkeypatch.setattr(libraries, "_PACKAGE", "no-such-distribution")
    got = version("ir-measures")
    assert str(Library("ir_measures", "ir").moved("no Qrel")) == (
        f"ir-measures {got} lacks what this package stands on ('no Qrel'), expected ir-measures of another release, "
        f"got {got}; pip install 'no-such-distribution[ir]'"
    )


def test_a_folder_that_is_called_as_a_library_is_not_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "no_such_library", ModuleType("no_such_library"))
    with pytest.raises(MissingExtraError, match=r"^the package no-such-library is not installed; pip install .*\[ir\]"):
        Library("no_such_library", "ir").attribute("no_such_library", "Something")


MOVED = {
    "ir_datasets.registry": ir_datasets.register,
    "ir_datasets.util.registry.Registry.register_pattern": ir_datasets.names,
    "ir_measures.DefaultPipeline": ir_measures.install,
    "beir.retrieval.evaluation.EvaluateRetrieval.retrieve": lambda: beir.retrieve(None, fsd.load("nimbus")),
    "mteb.models.ModelMeta.create_empty": lambda: mteb.replay({"q": {"d": 1.0}}),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_an_adapter_stands_on_and_its_library_has_moved_is_named(name, monkeypatch):
    monkeypatch.delattr(name)
    library, lacking = name.split(".")[0].replace("_", "-"), name.rpartition(".")[2]
    with pytest.raises(InputError, match=rf"^{library} .* lacks .*{lacking}.*, expected {library}>=.*, got "):
        MOVED[name]()
