"""Flow control with a clock of our own."""

from __future__ import annotations

from sparsescope.live.credits import Credits
from waiting import Clock


def test_nothing_is_sent_before_ready() -> None:
    link = Credits(Clock())
    link.give(5)
    assert not link.may_send()


def test_two_frames_may_be_on_their_way_and_no_more() -> None:
    link = Credits(Clock())
    link.start()
    for _ in range(2):
        assert link.may_send()
        link.spend()
    assert not link.may_send()
    link.give(1)
    assert link.may_send()
    link.give(100)
    link.spend()
    link.spend()
    assert not link.may_send()


def test_a_page_that_does_not_draw_gets_one_frame_a_second() -> None:
    clock = Clock()
    link = Credits(clock)
    link.start()
    link.spend()
    link.spend()
    sent = 0
    for _ in range(500):  # 5 s in steps of 10 ms
        clock.now += 0.01
        if link.may_send():
            link.spend()
            sent += 1
    assert sent in (4, 5)
    assert link.silent
    link.give(2)
    assert not link.silent and link.may_send()


def test_the_answer_to_a_command_may_overdraw_by_one() -> None:
    link = Credits(Clock())
    link.start()
    link.spend()
    link.spend()
    assert not link.may_send() and link.may_send(answer=True)
    link.spend()
    assert not link.may_send(answer=True)
    link.give(1)
    assert not link.may_send()  # the overdraft is paid back first
    link.give(2)
    assert link.may_send()


def test_ready_again_makes_up_for_lost_frames() -> None:
    link = Credits(Clock())
    link.start()
    link.spend()
    link.spend()
    link.start()
    assert link.may_send()


def test_a_page_that_is_gone_gets_nothing() -> None:
    link = Credits(Clock())
    link.start()
    link.stop()
    assert not link.may_send()
