"""What may stand after ``-m``: which folders and files are models, what they are called, and what their digest covers."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from mteb.models import ModelMeta
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel, RobertaConfig, RobertaModel

import freshstack_datasets as fsd
from freshstack_datasets.adapters.mteb import local_models
from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.errors import InputError, RunFileError

REGISTRY = MTEB.attribute("mteb.models.model_implementations", "MODEL_REGISTRY")


@pytest.fixture(autouse=True)
def _forget():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")  # config_json is config.json
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def model(tmp_path):
    return write(tmp_path / "mine", modules_json="[]", config_json="{}", weights="w", part__config_json="{}")


@pytest.mark.parametrize("changed", ["weights", "config.json", "part/config.json", "modules.json", "new.py"])
def test_the_digest_covers_weights_configuration_and_code(model, changed):
    before = local_models.digest(model)
    (model / changed).write_text("other")
    assert local_models.digest(model) != before


def test_the_digest_covers_the_name_of_a_file(model):
    before = local_models.digest(model)
    (model / "weights").rename(model / "weight")
    assert local_models.digest(model) != before


def test_the_digest_leaves_out_notes_and_what_only_training_needs(model, tmp_path):
    before = local_models.digest(model)
    for name in (
        "README.md",
        ".gitattributes",
        "optimizer.pt",
        "trainer_state.json",
        "checkpoint-500/weights",
        ".cache/x",
    ):
        (model / name).parent.mkdir(exist_ok=True)
        (model / name).write_text("other")
    assert local_models.digest(model) == before
    assert local_models.digest(shutil.copytree(model, tmp_path / "elsewhere")) == before


def test_the_digest_follows_links_to_files_and_folders_and_no_circle(model, tmp_path):
    before = local_models.digest(model)
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("weights", "part"):
        (model / name).rename(kept / name)
        (model / name).symlink_to(kept / name)
    assert local_models.digest(model) == before
    (kept / "part" / "config.json").write_text("other")
    assert local_models.digest(model) != before
    (model / "round").symlink_to(model)
    assert local_models.digest(model) == local_models.digest(model)


@pytest.mark.parametrize(
    "path, name",
    [
        ("bge-small", "bge-small"),
        ("gt/model", "gt-model"),
        ("mine/checkpoint-500", "mine-checkpoint-500"),
        ("runs/7/final/model", "7-final-model"),
        (f"models--a--b/snapshots/{'0' * 40}", f"models--a--b-snapshots-{'0' * 40}"),
    ],
)
def test_a_model_is_called_as_its_folder_and_those_above_where_that_says_little(tmp_path, path, name):
    assert local_models.name_of(tmp_path / path) == f"local/{name}"


@pytest.mark.parametrize(
    "files, wrapper, kind",
    [
        ({"modules_json": "[]"}, "SentenceTransformerEncoderWrapper", "dense"),
        ({"config_json": '{"architectures": ["BertModel"]}'}, "SentenceTransformerEncoderWrapper", "dense"),
        (
            {"config_json": '{"architectures": ["BertForSequenceClassification"]}'},
            "CrossEncoderWrapper",
            "cross-encoder",
        ),
        ({"config_sentence_transformers_json": '{"model_type": "SparseEncoder"}'}, "SparseEncoderWrapper", "sparse"),
        (
            {"config_sentence_transformers_json": '{"model_type": "MultiVectorEncoder"}'},
            "MultiVectorWrapper",
            "late-interaction",
        ),
        ({"config_json": "no JSON"}, "SentenceTransformerEncoderWrapper", "dense"),
    ],
)
def test_a_folder_is_loaded_by_the_kind_of_model_that_was_saved(tmp_path, files, wrapper, kind):
    folder = write(tmp_path / "mine", **files)
    local_models.adopt(str(folder))
    meta = REGISTRY[str(folder)]
    assert (meta.name, meta.model_type, meta.loader.keywords["wrapper"]) == ("local/mine", [kind], wrapper)
    assert meta.revision == local_models.digest(folder)


def test_a_name_that_mteb_has_is_mtebs_even_where_a_folder_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mteb" / "baseline-bm25s", config_json="{}")
    known = REGISTRY["mteb/baseline-bm25s"]
    local_models.adopt("mteb/baseline-bm25s")
    assert REGISTRY["mteb/baseline-bm25s"] is known
    local_models.adopt("./mteb/baseline-bm25s")
    assert REGISTRY["./mteb/baseline-bm25s"].name == "local/baseline-bm25s"


@pytest.mark.parametrize("name", ["acme/model", "acme", "bm25s"])
def test_what_is_no_path_and_not_there_is_left_to_mteb(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25s").mkdir()  # no model
    local_models.adopt(name)
    assert name not in REGISTRY


def test_a_relative_folder_with_a_slash_is_a_model(model, monkeypatch):
    monkeypatch.chdir(model.parent.parent)
    name = f"{model.parent.name}/mine"
    local_models.adopt(name)
    assert REGISTRY[name].name == "local/mine"


def test_a_run_file_is_adopted_under_the_name_of_the_run(tmp_path):
    path = tmp_path / "a.trec"
    fsd.write_run(fsd.Run.from_dict({"q": {"d": 1.0}}, "my run"), path)
    local_models.adopt(str(path))
    assert REGISTRY[str(path)].name == "freshstack-run/my_run"


def test_a_registry_of_models_that_mteb_moved_is_told_of_with_the_versions_that_work(monkeypatch):
    monkeypatch.delattr("mteb.models.model_implementations.MODEL_REGISTRY")
    with pytest.raises(InputError, match=r"MODEL_REGISTRY'\), expected mteb>=2.22,<3, got 2\."):
        local_models.adopt("mteb/baseline-bm25s")


def test_a_file_that_is_no_run_is_told_with_its_line(tmp_path):
    (tmp_path / "b.trec").write_text("no run\n")
    with pytest.raises(RunFileError, match=r"b\.trec:1"):
        local_models.adopt(str(tmp_path / "b.trec"))


@pytest.mark.parametrize("typed", ["./none", "~/none-of-that-name", "../none", "/none/at/all"])
def test_a_path_where_nothing_is_is_refused(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="got nothing there; check the path"):
        local_models.adopt(typed)


SIZES = {"hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8}


@pytest.mark.parametrize(
    "made, config, most",
    [
        (BertModel, BertConfig(**SIZES, max_position_embeddings=20), 20),
        (
            RobertaModel,
            RobertaConfig(**SIZES, max_position_embeddings=20, pad_token_id=1),
            18,
        ),  # 0 and 1 are for padding
        (LlamaModel, LlamaConfig(**SIZES, max_position_embeddings=20), 20),
    ],
)
def test_a_length_is_at_most_what_the_model_has_positions_for(made, config, most):
    class Inner(list):
        max_seq_length = 8

    inner = Inner([SimpleNamespace(auto_model=made(config))])
    meta = ModelMeta.create_empty({"name": "local/mine"})
    model = SimpleNamespace(model=inner, mteb_model_meta=meta)
    local_models.limit(model, most)
    told = model.mteb_model_meta
    assert (inner.max_seq_length, told.max_tokens, told.experiment_name) == (most, most, f"max_seq_length_{most}")
    with pytest.raises(InputError, match=f"expected at most {most}, as local/mine has positions for"):
        local_models.limit(model, most + 1)
    assert inner.max_seq_length == most


def test_a_model_that_cuts_nothing_takes_no_length():
    static = StaticEmbedding(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")), embedding_dim=2)
    model = SimpleNamespace(
        model=SentenceTransformer(modules=[static], device="cpu"),
        mteb_model_meta=ModelMeta.create_empty({"name": "local/static"}),
    )
    with pytest.raises(InputError, match="expected a model that reads tokens, got 'local/static'"):
        local_models.limit(model, 8)
