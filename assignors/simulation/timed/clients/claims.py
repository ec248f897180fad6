"""What KIP-945 and its neighbours claim about threads, where it holds, and what shows that."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A sentence of a document, and what came of it."""

    source: str
    text: str
    holds: str
    """Where it holds, and where it does not."""
    evidence: tuple[str, ...]
    """Tests in `tests/simulation/timed/clients` that compute it."""


CLAIMS = (
    Claim(
        "KIP-945, motivation",
        "Coordinator communication on two threads has caused races such as KAFKA-13563.",
        "The race is KAFKA-10793, and needs two threads. KAFKA-13563 is what its fix left out: it "
        "needs one thread: a client without a heartbeat thread never forgets its look-up.",
        (
            "test_the_race_of_10793_needs_a_failure_between_two_steps_of_the_heartbeat_thread",
            "test_the_fault_of_13563_needs_one_thread_alone",
            "test_in_which_release_and_for_whom_the_coordinator_is_never_found_again",
        ),
    ),
    Claim(
        "KIP-945, motivation",
        "Rebalances in a background thread are asynchronous to poll: neither blocks the other.",
        "In full where nothing is revoked: one poll interval less than with a heartbeat thread. "
        "Where partitions are revoked both wait for two calls of poll: nothing is saved.",
        (
            "test_where_nothing_is_revoked_a_background_thread_saves_a_whole_poll",
            "test_where_partitions_are_revoked_a_background_thread_saves_nothing",
            "test_who_does_all_in_poll_waits_for_polls_to_hear_of_it",
        ),
    ),
    Claim(
        "KIP-945, scope",
        "The heartbeat thread can go: the background loop sends heartbeats.",
        "Everywhere. Only a stall of the thread that sends them, longer than the session timeout, "
        "evicts; a poll that never comes back has to be noticed by a limit of its own.",
        (
            "test_the_thread_that_sends_heartbeats_is_the_one_whose_stall_evicts",
            "test_a_polling_thread_that_never_comes_back_is_noticed_by_its_own_limit",
            "test_a_slow_loop_starves_heartbeats_beyond_the_session_timeout_only",
        ),
    ),
    Claim(
        "KIP-945, scope",
        "A blocking commit waits on a future that the background thread completes.",
        "At no cost where the loop is woken, else up to two of its periods more. Answers must be "
        "matched to calls, or a late one completes the next commit; and the loop must not wait for "
        "callbacks, or only the timeout ends the commit.",
        (
            "test_what_a_blocking_commit_takes",
            "test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",
            "test_a_background_thread_that_waits_for_callbacks_can_end_a_commit_by_its_timeout_alone",
        ),
    ),
    Claim(
        "KIP-945, scope",
        "A few states make callbacks run in the correct sequence.",
        "Everywhere, if an acknowledgement waits for its callback and the channel keeps its order. "
        "With all work in poll there is never more than one callback to order.",
        (
            "test_every_order_of_threads_network_and_application_keeps_the_rules",
            "test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",
        ),
    ),
    Claim(
        "KIP-945, terms",
        "Callbacks run on the polling thread.",
        "They must: on the background thread poll returns a record of a partition just revoked.",
        ("test_callbacks_on_the_background_thread_are_found",),
    ),
    Claim(
        "KIP-945, communication channels",
        "Both threads share the subscription state.",
        "Only if partitions are paused before their revocation is announced, and buffered records "
        "checked when they are collected. The first is needed with a background thread alone.",
        (
            "test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",
            "test_a_history_of_a_record_of_a_revoked_partition",
        ),
    ),
    Claim(
        "KIP-945, background thread",
        "Four states describe the thread: down, initialized, coordinator_discovery, stable.",
        "Every state is reached and left. `down` has two meanings; only that of a thread that does "
        "not run tells it from the other states without a coordinator.",
        (
            "test_every_state_leads_to_every_other",
            "test_every_row_of_the_table_is_used",
            "test_both_meanings_of_down",
        ),
    ),
    Claim(
        "KIP-945, background thread",
        "At most one look-up of the coordinator is in flight.",
        "In the background thread. With a heartbeat thread two can be, in Kafka 4.4.0 too: it "
        "forgets a look-up without asking whether it is over.",
        (
            "test_one_look_up_at_a_time_and_every_event_is_done_once",
            "test_the_heartbeat_thread_lets_a_second_look_up_start",
        ),
    ),
    Claim(
        "KIP-945, background thread",
        "An event that needs a coordinator leads to discovery; a failure leads back.",
        "The event's fate is left open. Kept at the head of the channel it delays all others, "
        "dropped it fails, parked it does neither.",
        ("test_what_keeping_an_event_costs",),
    ),
    Claim(
        "KIP-945, close",
        "Close ends the loop, polls coordinator and network once more, then commits.",
        "Loses commits of every kind: nobody reads the last answers. Committing and waiting before "
        "the loop ends, as Java does, loses none.",
        (
            "test_what_an_order_may_lose",
            "test_the_documents_order_never_learns_what_became_of_its_last_commit",
            "test_waiting_is_what_saves_a_commit",
        ),
    ),
    Claim(
        "KIP-945, close",
        "A client can close at any time.",
        "Amid a classic rebalance any order may lose every commit: once all members have joined, "
        "commits are refused, and Java's client calls what it owns lost. Under KIP-848 it loses "
        "what it does at rest.",
        (
            "test_closing_amid_a_classic_rebalance_may_lose_every_commit_whatever_the_order",
            "test_closing_amid_a_rebalance_of_kip_848_loses_what_closing_at_rest_does",
        ),
    ),
    Claim(
        "KIP-429; KIP-945, scope",
        "A member that was removed has lost its partitions: they are not revoked.",
        "In every model, if callbacks that were asked for are dropped then, and if partitions are "
        "forgotten as soon as their revoked callback has run. With all work in poll neither can "
        "go wrong; Java's client of KIP-848 does the second wrongly in 4.4.0.",
        (
            "test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",
            "test_the_trace_of_a_listener",
        ),
    ),
    Claim(
        "KIP-945, scope",
        "The application may commit, and wait for it, in its callbacks.",
        "If the waiting thread sends the commit itself or another one does, and somebody reads the "
        "answer; else only the timeout ends the callback.",
        (
            "test_who_waits_for_a_commit_in_a_callback_must_send_it_and_somebody_read_its_answer",
            "test_a_callback_that_commits_hangs_where_the_background_thread_waits_for_callbacks",
        ),
    ),
    Claim(
        "Jepsen on Bufstream 0.1.0 (2024); apache/kafka#18737",
        "Automatic commits cover the offsets of the previous poll.",
        "They must where a background thread commits: else it commits what poll has collected and "
        "not returned. Where poll itself commits, the order of its steps is enough.",
        ("test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",),
    ),
    Claim(
        "Sarama cooperative rebalancing, review",
        "Claims, member id and generation must be read together.",
        "With a background thread that writes them. Where the reading thread writes one of them "
        "itself, reading one after the other does no harm.",
        ("test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm",),
    ),
    Claim(
        "KIP-1251",
        "A commit that races a new epoch is refused although its partitions are kept.",
        "In every model, where only the current generation may commit; in none, where the "
        "epoch at which a partition was assigned decides.",
        ("test_a_commit_that_races_a_new_generation_is_refused_unless_partitions_decide",),
    ),
)
