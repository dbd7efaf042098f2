"""What a stand-in for a language model had a part in is not published, wherever the snapshot says so."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.publishing.plan import prepare
from builders.publishing.stand_ins import CALLS
from freshstack_datasets.errors import SnapshotError
from tests.builders import small_dataset


def calls(models, kind=None, column="model", **more):
    """The file of calls of models."""
    stream = io.BytesIO()
    pq.write_table(pa.table({column: pa.array(models, kind or pa.string()), **more}), stream, row_group_size=2)
    return stream.getvalue()


def with_calls(folder, content):
    recipe = {"models": {"nuggets": "gpt-4o"}}
    return small_dataset.write(folder, recipe=recipe, provenance={"calls.parquet": content})


@pytest.mark.parametrize(
    "model", ["stand-in", "Stand-In 2", " stand-in", "stand_in", "standin", "fake", "FAKE/scripted"]
)
def test_a_stand_in_in_the_recipe_is_refused(tmp_path, model):
    folder = small_dataset.write(tmp_path / "toy", recipe={"models": {"a": "gpt-4o", "b": model, "c": "gpt-4o"}})
    with pytest.raises(
        SnapshotError, match=rf"got the stand-in '{model}' as the model of 'b'; build it with a real model"
    ):
        prepare(folder)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_stand_in_among_the_calls_is_refused_though_the_recipe_names_a_model(tmp_path, kind, place):
    models = ["gpt-4o"] * 6
    models.insert(place, "stand-in/scripted")
    folder = with_calls(tmp_path / "toy", calls(models, kind, reply=["text"] * 7))
    expected = f"got the stand-in 'stand-in/scripted' as the model of calls in {CALLS}; "
    with pytest.raises(SnapshotError, match=expected):
        prepare(folder)


@pytest.mark.parametrize("models", [[], ["gpt-4o", None, "acme/stand-in-tuned", "fakery-7b", "outstanding"]])
def test_calls_of_models_are_published(tmp_path, models):
    assert CALLS in [file.path for file in prepare(with_calls(tmp_path / "toy", calls(models))).files]


@pytest.mark.parametrize(
    "content, got",
    [
        (b"calls", "Parquet"),
        (b"", "Parquet"),
        (calls(["gpt-4o"], column="name"), "model"),
        (calls([7], pa.int64()), "model: int64"),
        (calls([["stand-in"]], pa.list_(pa.string())), "model: list<"),
        (calls([b"stand-in"], pa.binary()), "model: binary"),
        (calls(["stand-in"])[:-8], "Parquet"),
    ],
    ids=["garbage", "empty", "no model", "numbers", "lists", "bytes", "cut off"],
)
def test_calls_that_do_not_tell_their_models_are_refused(tmp_path, content, got):
    folder = with_calls(tmp_path / "toy", content)
    with pytest.raises(SnapshotError) as caught:
        prepare(folder)
    assert f"is not published, expected {CALLS} with a column of texts, model, got " in str(caught.value)
    assert got in str(caught.value)
    assert str(caught.value).endswith("; build it again: without it nobody knows which models were called")
