"""How fast calls go, by a clock that stands still but when somebody sleeps."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.llm.limits import LONGEST_WAIT, Clock, Limits, retry_after


class Time:
    """A clock on which many sleep at once, and the one who sleeps shortest wakes first."""

    def __init__(self):
        self.now, self.sleepers = 0.0, []

    async def sleep(self, seconds):
        waking = asyncio.get_running_loop().create_future()
        self.sleepers.append((self.now + seconds, len(self.sleepers), waking))
        await waking

    async def run(self, *coroutines):
        """Let time pass until all are done."""
        tasks = [asyncio.create_task(one) for one in coroutines]
        while not all(task.done() for task in tasks):
            for _ in range(50):
                await asyncio.sleep(0)
            if self.sleepers and not all(task.done() for task in tasks):
                self.sleepers.sort(key=lambda sleeper: sleeper[:2])
                at, _, waking = self.sleepers.pop(0)
                self.now = max(self.now, at)
                if not waking.done():
                    waking.set_result(None)
        return [task.result() for task in tasks]

    def limits(self, *args, **settings):
        return Limits(*args, **settings, clock=Clock(lambda: self.now, lambda: self.now, self.sleep))


def starts(time, limits, tokens, seconds=0.0):
    """Send as many calls as there are numbers of tokens; return when each went."""

    async def one(amount):
        async with limits.turn(amount):
            start = time.now
            if seconds:
                await time.sleep(seconds)
            return start

    return asyncio.run(time.run(*map(one, tokens)))


@given(st.integers(1, 600), st.integers(1, 80))
def test_no_minute_has_more_calls_than_are_allowed(per_minute, calls):
    time = Time()
    went = starts(time, time.limits(100, per_minute), [0] * calls)
    assert went == pytest.approx([number * 60 / per_minute for number in range(calls)])


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=40))
def test_tokens_are_paid_for_by_those_who_come_after(tokens):
    time = Time()
    went = starts(time, time.limits(100, None, 1000), tokens)
    paid = [sum(tokens[:number]) * 60 / 1000 for number in range(len(tokens))]
    assert went == pytest.approx(paid)


def test_without_limits_nobody_waits():
    time = Time()
    assert starts(time, time.limits(100), [10**9] * 100) == [0.0] * 100


@given(st.integers(1, 9), st.integers(1, 40))
def test_no_more_than_allowed_go_at_once(concurrency, calls):
    time = Time()
    went = starts(time, time.limits(concurrency), [0] * calls, seconds=1.0)
    assert went == [float(number // concurrency) for number in range(calls)]


def test_a_server_that_is_busy_is_left_alone_by_all_and_asked_by_half_as_many():
    time = Time()
    limits = time.limits(8)
    assert 10.0 <= limits.slow_down(10.0) <= 11.0
    limits.slow_down(5.0)  # of a call that was sent before the first one said so: it changes nothing
    went = starts(time, limits, [0] * 8, seconds=1.0)
    assert min(went) >= 10.0
    assert [went.count(start) for start in sorted(set(went))] == [4, 4]


def test_a_server_that_is_busy_and_asks_for_no_time_is_not_asked_again_at_once():
    limits = Time().limits(8)
    assert 0.5 <= limits.slow_down(0.0) <= 1.5  # as when it does not say how long: one second, give or take a half


def test_answers_bring_back_what_was_halved_little_by_little():
    time = Time()
    limits = time.limits(8)
    limits.slow_down(1.0)
    time.now += 2.0
    for _ in range(4):  # a call less than is needed for one more at once
        limits.answered()
    first = time.now
    assert starts(time, limits, [0] * 20, seconds=1.0).count(first) == 4  # 4 + 1/4 + 1/4.25 + 1/4.49 + 1/4.71 = 4.9
    for _ in range(100):
        limits.answered()
    first = time.now
    went = starts(time, limits, [0] * 20, seconds=1.0)
    assert went.count(first) == 8


@pytest.mark.parametrize("tries, least, most", [(1, 0.5, 1.5), (2, 1, 3), (4, 4, 12), (7, 30, 90), (99, 30, 90)])
def test_waiting_grows_by_twos_with_a_random_part_and_an_end(tries, least, most):
    waits = [Limits(seed=seed).backoff(tries) for seed in range(200)]
    assert least <= min(waits) < max(waits) <= most
    assert len(set(waits)) > 190


def test_the_random_part_depends_on_the_seed_alone():
    random.seed(5)
    one = [Limits(seed=7).backoff(3) for _ in range(2)]
    assert one[0] == one[1] != Limits(seed=8).backoff(3)


def test_nobody_waits_longer_than_reason_has_it():
    limits = Limits()
    assert limits.slow_down(1e12) <= LONGEST_WAIT
    for _ in range(50):
        limits._not_before = 0.0
        assert limits.slow_down(None) <= LONGEST_WAIT


def test_who_gives_up_while_waiting_takes_nobodys_turn():
    time = Time()
    limits = time.limits(1)

    async def hold(seconds):
        async with limits.turn(0):
            await time.sleep(seconds)
        return time.now

    async def impatient():
        waiting = [asyncio.create_task(hold(1.0)) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for task in waiting[1:]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return await hold(1.0)

    assert asyncio.run(time.run(impatient())) == [2.0]


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text(max_size=300)))
def test_whatever_a_server_asks_for_is_a_bearable_time_or_nothing(headers):
    seconds = retry_after(headers, 0.0)
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "inf"}, LONGEST_WAIT),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40),  # the clock says 60
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0),
        ({"retry-after": "Thu, 01 Jan 99999 00:00:10 GMT"}, None),
        ({}, None),
    ],
)
def test_seconds_milliseconds_and_dates_are_read(headers, seconds):
    assert retry_after(headers, 60.0) == seconds
