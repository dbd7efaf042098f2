"""A stage for tests that writes down what it does, and can end the whole run in the middle of a shard."""

import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path

from builders.stages import run
from freshstack_datasets.errors import InputError


class UnfortunateError(InputError):
    """An error that cannot be sent from one process to another, as some of the package."""

    def __init__(self, article, noun):
        super().__init__(f"no square of {article} {noun}")


class Squares:
    name = "squares"

    def __init__(self, log, fatal=None):
        self.log, self.fatal = Path(log), fatal

    def key(self, shard):
        return str(shard)

    def make(self, shard, part):
        with self.log.open("a") as log:
            log.write(f"{shard}\n")
        part.write_text("half")
        if shard == "bad":
            raise UnfortunateError("a", "bad shard")
        if shard == self.fatal:
            end_everything()
        part.write_text(str(shard**2))

    def close(self):
        with self.log.open("a") as log:
            log.write("closed\n")


class Changing(Squares):
    """It depends on something else whenever it is asked."""

    def key(self, shard):
        self.asked = getattr(self, "asked", 0) + 1
        return f"{shard} {self.asked}"


def end_everything():
    """Kill the process that started the run; this one ends with it."""
    in_pool = multiprocessing.parent_process() is not None
    os.kill(os.getppid() if in_pool else os.getpid(), signal.SIGKILL)
    threading.Event().wait()


if __name__ == "__main__":
    folder, processes, fatal = sys.argv[1:]
    run(Squares(Path(folder, "log"), int(fatal)), range(8), Path(folder), processes=int(processes))
