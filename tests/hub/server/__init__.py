"""A Hub of Hugging Face for tests: what its clients need to publish datasets and to load them, on loopback."""

from tests.hub.server.accounts import Account
from tests.hub.server.hub import ALWAYS, TestHub

__all__ = ["ALWAYS", "Account", "TestHub"]
