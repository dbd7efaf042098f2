"""What every test runs under: a home of its own, and no network beyond loopback."""

import ipaddress
import os
import socket
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is slow and not wrong; in CI the same cases run each time.
settings.register_profile("tests", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("tests")

os.environ["HF_HUB_OFFLINE"] = "1"  # read at import by the libraries that use it
os.environ["HF_DATASETS_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Indexes and caches of a test go into a folder that no other test sees."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("FRESHSTACK_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to another machine fails the test instead of leaving this one."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])  # type: ignore[index]  # an address of these families is a tuple
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                pytest.fail(f"a test tried to connect to {host}")
        connect(self, address)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(socket.socket, "connect", guarded)
