"""What tests of the Hub need: the Hub, real clients of it, and two snapshots to put there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.server import TestHub
from tests.hub.server.xet import why_not


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[TestHub]:
    """An empty Hub, which is gone after the test."""
    folder = tmp_path / "hub"
    folder.mkdir()
    with TestHub(folder) as running:
        yield running
    assert not running.bugs, running.bugs[0]


@pytest.fixture
def client(hub: TestHub, tmp_path: Path) -> Client:
    """Real clients of the Hub: ``client(code, *arguments, xet=, offline=, token=, home=, env=)``."""
    return Client(hub, tmp_path)


@pytest.fixture(scope="session")
def two_snapshots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of ``freshstack/langchain`` at 2026-07 and at 2026-10; not to be changed."""
    folder = tmp_path_factory.mktemp("snapshots")
    older, newer = (snapshots.write(folder / name, name) for name in snapshots.SNAPSHOTS)
    return older, newer


@pytest.fixture(scope="session", params=[False, True], ids=["lfs", "xet"])
def xet(request: pytest.FixtureRequest) -> bool:
    """Whether large files travel by xet; a test that asks for this runs both ways."""
    if request.param and (reason := why_not()):
        pytest.skip(reason)
    return bool(request.param)
