"""A finished run as a model of MTEB, which returns what the run has."""

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from mteb.models import ModelMeta

from freshstack_datasets.adapters.given import check_for_c
from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.errors import RunError, shown
from freshstack_datasets.ranking import Run, as_run

_OWNER = "freshstack-run"
_NAME_LIMIT = 100


class Replay:
    """A model that has searched already.

    Its name is the run's, its revision the digest of what the run holds, so that MTEB keeps the results of two runs
    apart.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        name = re.sub("[^A-Za-z0-9._-]", "_", run.name[:_NAME_LIMIT]) or "run"
        self.mteb_model_meta = MTEB.attribute(ModelMeta, "create_empty")(
            {"name": f"{_OWNER}/{name}", "revision": _digest(run)}
        )

    def index(self, corpus: Any, **_: Any) -> None:
        """Do nothing; the run is there."""

    def search(self, queries: Any, *, top_k: int, **_: Any) -> dict[str, dict[str, float]]:
        """Return the run's documents of the queries that it has.

        Args:
            queries: The queries of the task, with ``id``.
            top_k: How many documents of a query to return, the best ones.

        Raises:
            RunError: The run has none of the queries.
        """
        asked = list(queries["id"])
        found = {
            query_id: dict(islice(self._run[query_id].items(), top_k)) for query_id in asked if query_id in self._run
        }
        if not found:
            got = ", ".join(map(shown, islice(self._run, 3))) or "no query"
            expected = f"query ids such as {shown(asked[0])}" if asked else ""
            raise RunError(
                f"run {shown(self._run.name)} has no query of the task",
                expected=expected,
                got=got,
                hint="was it made for another dataset?",
            )
        return found


def replay(run: Run | Mapping[str, Mapping[str, float]]) -> Replay:
    """Return a run as a model.

    Raises:
        RunError: It is none, or holds something that is not allowed.
        RecordError: An id has a NUL, at which trec_eval within MTEB would end it.
    """
    given = as_run(run)
    check_for_c(given.query_ids, given.doc_ids)
    return Replay(given)


def _digest(run: Run) -> str:
    """Return the digest of queries, documents and scores."""
    digest = hashlib.sha256()
    for query_id in sorted(run.query_ids):
        digest.update(json.dumps([query_id, list(run[query_id].items())]).encode() + b"\n")
    return digest.hexdigest()
