"""Stages for tests whose work ends the process it is done in, in as many ways as libraries and systems have."""

import ctypes
import os
import signal
from pathlib import Path

from builders.corpus import Settings
from builders.stages import watchdog


def read_nothing():
    ctypes.string_at(0)


def hang():
    """Wait for ever in C, holding Python's lock, so that no thread of Python's can do anything about it."""
    watchdog.watch(0.2)
    watchdog.alive()
    ctypes.PyDLL(None).pause()


WAYS = {
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "null": read_nothing,
    "out of memory": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leave": lambda: os._exit(0),
    "too large": lambda: bytearray(1 << 62),
    "hang": hang,
}


class Words:
    """Its shards are tuples of words."""

    name = "words"

    def __init__(self, log):
        self.log = Path(log)

    def key(self, shard):
        return repr(shard)

    def make(self, shard, part):
        with part.open("w") as stream:
            for word in shard:
                with self.log.open("a") as log:
                    log.write(f"{os.getpid()} {word}\n")
                WAYS.get(word, lambda: None)()
                stream.write(f"{word}\n")

    def close(self):
        pass


class DivisibleWords(Words):
    def pieces(self, shard):
        return [(word,) for word in shard]

    def give_up(self, shard, part):
        part.write_text(f"{shard[0]} was given up\n")


class NeedsAStart(Words):
    """No other process can have it."""

    def __reduce__(self):
        return os._exit, (3,)


class Crashing(Settings):
    """Settings of a corpus, with a library that does not take every file."""

    def chunker(self, name):
        chunk = super().chunker(name)

        def crashing(path, data):
            if path == "docs/guide.md":
                WAYS["crash"]()
            return chunk(path, data) if path != "b.md" else 1 / 0

        return crashing
