"""Waiting for what goes away by itself, and never longer than people do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import sleep
from typing import Any, TypeVar

from builders.publishing.words import PASSING, Trouble, trouble
from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.hub.download import bars_on_terminals

T = TypeVar("T")

LONGEST = 900.0
"""Seconds to wait in all: three of the windows in which the Hub counts requests."""
TRIES = 6
"""How often one thing is tried."""
LOOKS = 2
"""How often it is, at most, when somebody else changes the repository each time."""


@dataclass
class Patience:
    """Does things again that failed and may not fail again.

    Args:
        what: What is said of a failure, such as ``freshstack/langchain@2026-10 cannot be published``.
        repository: The repository that it is about.
        say: Takes a line for people.
        wait: Waits some seconds.
        waited: How many seconds were waited so far.
    """

    what: str
    repository: str
    say: Callable[[str], None]
    wait: Callable[[float], None] = sleep
    waited: float = field(default=0.0, init=False)

    def run(self, action: Callable[[], T]) -> T:
        """Return what an action returns, which may be begun several times.

        Args:
            action: Looks anew at what there is, each time that it is begun.

        Raises:
            FreshStackError: It fails for good.
        """
        tries = looks = 0
        while True:
            try:
                with _handed_over(), bars_on_terminals():
                    return action()
            except FreshStackError:
                raise
            except Exception as error:  # three libraries, one of them compiled: there is no list of what they raise
                met = trouble(error, self.what, self.repository)
                tries, looks = tries + 1, looks + met.moved
                if not (met.passing or met.moved) or looks >= LOOKS:
                    raise met.error from error
                if met.moved:
                    self.say(f"{self.repository} changed meanwhile; looking again")
                elif tries >= TRIES or not self._waits(met, tries):
                    self.say("nothing is lost: the same command, run again, goes on where it stopped")
                    raise met.error from error

    def _waits(self, met: Trouble, tries: int) -> bool:
        """Wait before the next try and return True, or return False where that would take too long."""
        seconds = max(1.0, met.wait if met.wait is not None else 2.0 ** (tries - 1))
        if self.waited + seconds > LONGEST:
            return False
        self.waited += seconds
        self.say(f"{met.why}; waiting {seconds:.0f} s, then trying again ({tries + 1} of {TRIES})")
        self.wait(seconds)
        return True


@contextmanager
def _handed_over() -> Iterator[None]:
    """Let the client hand over what it would wait for by itself, unseen and for as long as the Hub says."""
    from huggingface_hub import get_session

    hooks = get_session().event_hooks["response"]
    hooks.append(_hand_over)
    try:
        yield
    finally:
        hooks.remove(_hand_over)


def _hand_over(response: Any) -> None:
    """Raise what an answer of the Hub says where it may say something else later.

    Stores of large files are left to the client, which sends a part again and not all of them, and waits for seconds.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]  # it is put there late

    if response.status_code in PASSING and str(response.url).startswith(constants.ENDPOINT):
        response.read()
        hf_raise_for_status(response)
