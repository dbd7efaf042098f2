"""What tests of the Hub need: the Hub, real clients of it, and two snapshots to put there."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.publisher import Publisher
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


@pytest.fixture(scope="module")
def lasting_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestHub]:
    """A Hub for all tests of a module, which use a ``repo`` each and never damage what others may have sent too."""
    with TestHub(tmp_path_factory.mktemp("hub")) as running:
        yield running
    assert not running.bugs, running.bugs[0]


@pytest.fixture
def healed_hub(lasting_hub: TestHub) -> Iterator[TestHub]:
    """The same; what a test orders to go wrong there ends with the test."""
    yield lasting_hub
    lasting_hub.tokens.clear()
    lasting_hub.heal()


_REPOS = (f"acme/data-{number}" for number in itertools.count())


@pytest.fixture
def repo() -> str:
    """The name of a repository that no other test uses."""
    return next(_REPOS)


@pytest.fixture(scope="module")
def publish(lasting_hub: TestHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    """Publishes on the Hub that lasts: ``publish(folder, *options, token=)``."""
    folder = tmp_path_factory.mktemp("publisher")
    with Publisher(Client(lasting_hub, folder), folder / "home") as publisher:
        yield publisher


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
