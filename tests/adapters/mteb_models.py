"""What tests of the MTEB adapter share: a snapshot with ids of every kind, and a model that needs no weights."""

import zlib
from datetime import date

import numpy as np
from mteb.models import ModelMeta

from freshstack_datasets.loading import load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot

DOCUMENTS = [
    Document("docs/a b.md", "Grinders", "burrs grind evenly"),
    Document("docs/ñ#1%20.md", "", "water matters for coffee"),
    Document("d3", "Pressure", "nine bar is what espresso needs"),
    Document("d4", "Milk", "milk is foamed last"),
]
QUERIES = [
    Query("q 1", "how do burrs grind water", language="en"),
    Query("q2", "which pressure in bar", language="en"),
    Query("q3", "when is milk foamed", language="en"),
]
NUGGETS = [
    Nugget("n1", "q 1", 0, "burrs grind evenly"),
    Nugget("n2", "q 1", 1, "water matters"),
    Nugget("n3", "q2", 0, "nine bar"),
    Nugget("n4", "q3", 0, "last"),
]
JUDGMENTS = [
    Judgment("q 1", "n1", "docs/a b.md", 1),
    Judgment("q 1", "n2", "docs/a b.md", 1),
    Judgment("q 1", "n2", "docs/ñ#1%20.md", 1),
    Judgment("q 1", "n1", "d4", 0),
    Judgment("q2", "n3", "d3", 1),
    Judgment("q2", "n3", "d4", 0),
    Judgment("q3", "n4", "d4", 1),
]


def coffee(folder, documents=DOCUMENTS, **about):
    told = {"dataset": "acme/coffee", "snapshot": "2024-10", "license": "CC-BY-SA-4.0"} | about
    write_snapshot(
        folder,
        documents=documents,
        queries=QUERIES,
        nuggets=NUGGETS,
        judgments=JUDGMENTS,
        created=date(2024, 10, 31),
        **told,
    )
    return load(folder)


class Words:
    """An encoder whose vectors count words; what it was given is kept.

    Args:
        name: The model's name.
    """

    def __init__(self, name="tests/words"):
        self.mteb_model_meta = ModelMeta.create_empty({"name": name, "revision": "1"})
        self.given = []

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **_):
        texts = [text for batch in inputs for text in batch["text"]]
        self.given += [(str(prompt_type), text) for text in texts]
        vectors = np.zeros((len(texts), 64), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                vector[zlib.crc32(word.encode()) % 64] += 1
        return vectors

    def similarity(self, embeddings1, embeddings2):
        import torch

        return torch.as_tensor(np.asarray(embeddings1)) @ torch.as_tensor(np.asarray(embeddings2)).T

    def similarity_pairwise(self, embeddings1, embeddings2):
        raise NotImplementedError
