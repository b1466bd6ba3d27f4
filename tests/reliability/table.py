"""The table: each way to fail, what then holds, and the tests that show it. Data, and nothing else.

F: failures, I: invariants. Numbers that are missing were never given, or given up.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One promise. ``tests`` are files, each with a test's name behind ``::``."""

    id: str
    when: str
    holds: str
    tests: tuple[str, ...]
    besides: str = ""


_BUS = "tests/contract/test_bus.py::"
_DEATHS = "tests/contract/test_process.py::"
_HARNESS = "tests/contract/test_service.py::"
_AGENTS = "tests/process/test_agents.py::"
_CHAOS = "tests/process/test_chaos.py::"
_CONFIG = "tests/process/test_config.py::"
_DISK = "tests/reliability/disk.py::"
_GATEWAY = "tests/process/test_gateway.py::"
_HISTORY = "tests/process/test_history.py::"
_HOSTILE = "tests/process/test_hostile_agents.py::"
_OPENING = "tests/process/test_history_opening.py::"
_SHIM = "tests/process/test_shim.py::"
_SUPERVISION = "tests/process/test_supervision.py::"
_UP = "tests/process/test_up.py::"
_ALONE = "tests/process/test_up_alone.py::"
_WINDOWS = "tests/process/test_windows.py::"
_U = "tests/unit/"

ROWS = (
    Row(
        "F1",
        "a subscriber reads too slowly, and publications are dropped",
        "it has every event once, in order",
        (
            _DEATHS + "test_a_reader_that_stops_reading_finds_everything_afterwards",
            _GATEWAY + "test_a_stopped_gateway_has_no_hole_when_it_goes_on",
        ),
    ),
    Row(
        "F2",
        "a follower joins during a burst",
        "its first event is the one after its place",
        (
            _BUS + "test_a_follower_from_anywhere_gets_exactly_what_is_after_it",
            _BUS + "test_a_follower_without_an_epoch_begins_at_the_head",
        ),
    ),
    Row(
        "F3",
        "the last event is lost, and nothing follows it",
        "the next heartbeat brings it",
        (_DEATHS + "test_the_last_event_before_a_death_reaches_a_reader_within_a_heartbeat",),
    ),
    Row(
        "F4",
        "the bus dies after it appended, after it published, before it acknowledged",
        "no gap, nothing twice",
        (
            _DEATHS + "test_a_death_in_the_exact_window_loses_and_doubles_nothing",
            _DEATHS + "test_kills_at_random_moments_lose_and_double_nothing",
        ),
    ),
    Row(
        "F5",
        "an acknowledgement is lost and the batch is sent again",
        "it stands in the journal once",
        (
            _U + "sk_bus/test_sequencer.py::"
            "test_whatever_is_lost_or_dies_each_event_stands_once_and_in_order",
        ),
        "the chaos run loses one acknowledgement in 400",
    ),
    Row(
        "F6",
        "a batch is lost and the next one arrives",
        "it is refused",
        (
            _U + "sk_bus/test_sequencer.py::"
            "test_what_does_not_follow_is_refused_and_changes_nothing",
        ),
    ),
    Row(
        "F8",
        "a publisher begins again under the same name",
        "it goes on from the position that the bus keeps",
        (
            _BUS + "test_a_new_producer_goes_on_from_the_position_the_bus_keeps",
            _BUS + "test_two_processes_under_one_name_leave_only_the_first_to_move",
        ),
    ),
    Row(
        "F9",
        "the journal is deleted, or an older copy of it comes back",
        "a new epoch; channels and messages stay, what was under way ends as interrupted",
        (
            (
                "tests/process/test_journal_faults.py::"
                "test_an_older_journal_loses_nothing_that_was_said_and_closes_what_was_under_way"
            ),
            _DEATHS + "test_an_older_journal_put_back_begins_a_new_epoch",
            _HISTORY
            + "test_when_the_journal_is_lost_it_says_what_it_kept_and_ends_what_was_under_way",
            "tests/process/test_memory.py::test_a_lost_journal_loses_no_memory",
        ),
    ),
    Row(
        "F10",
        "the router dies between a command, its decision and the publication",
        "each command is decided once",
        (
            _WINDOWS + "test_a_router_killed_there_changes_nothing",
            _U + "sk_router/test_properties.py::test_deaths_of_the_router_change_nothing",
            _U + "sk_router/test_turns.py::"
            "test_a_router_that_dies_between_any_two_inputs_leaves_no_trace",
        ),
    ),
    Row(
        "F11",
        "a decision depends on a clock, on chance or on the order of a set",
        "none does",
        (
            _U + "sk_router/test_properties.py::test_no_order_of_a_set_or_a_hash_decides_anything",
            _U + "test_imports.py::test_pure_modules_import_nothing_that_acts",
        ),
    ),
    Row(
        "F12",
        "the router is upgraded in mid-turn",
        "new code reads old logs; a snapshot of other code is not read",
        (
            _U + "sk_router/test_golden.py::test_the_log_is_read_as_it_was_meant",
            _U + "sk_router/test_golden.py::test_the_answer_goes_on_and_ends_whole",
            _U + "sk_router/test_golden.py::test_a_snapshot_of_other_code_is_not_read",
            _U + "sk_router/test_golden.py::test_an_event_of_newer_code_is_passed_over",
        ),
    ),
    Row(
        "F13",
        "the executor dies in the middle of a line to an agent",
        "the agent reads the line once, whole",
        (
            _WINDOWS + "test_an_executor_killed_there_changes_nothing",
            _SHIM + "test_a_manager_killed_in_the_middle_of_a_line_leaves_no_trace_of_it",
        ),
    ),
    Row(
        "F14",
        "the executor dies between a publication and its acknowledgement to the holder",
        "no word is lost or shown twice",
        (_AGENTS + "test_killed_in_an_exact_window_everything_still_happens_once",),
    ),
    Row(
        "F15",
        "two executors reach for one agent",
        "the newest wins, a second one of the same instance ends",
        (
            _SHIM + "test_the_newest_manager_wins",
            _HARNESS + "test_a_second_copy_ends_and_says_why",
        ),
    ),
    Row(
        "F16",
        "an agent cuts a line or a character in two",
        "it is put together",
        (
            _U + "sk_agents/test_framing.py::test_lines_are_the_same_however_the_stream_is_cut",
            _U + "sk_agents/test_framing.py::test_a_character_split_over_two_reads_arrives_whole",
        ),
    ),
    Row(
        "F17",
        "an agent writes what is no JSON, or a line of 50 MB",
        "the line is in its log, or skipped; the turn goes on",
        (
            _AGENTS + "test_every_line_is_a_frame_or_a_line_of_the_log",
            _AGENTS + "test_a_long_line_travels_as_a_blob_and_one_over_the_cap_is_skipped",
            _HOSTILE + "test_a_line_of_20_mib_passes_through_everything",
        ),
    ),
    Row(
        "F19",
        "an agent ends while the executor is away",
        "its end is told on return, with its last words",
        (_AGENTS + "test_an_agent_that_ends_while_we_are_away_is_told_when_we_return",),
    ),
    Row(
        "F20",
        "a spool is full",
        "that agent waits, and goes on; no byte is lost",
        (
            _SHIM + "test_a_full_spool_blocks_the_agent_until_it_is_acknowledged",
            _U + "sk_agents/test_spool.py::test_what_fits_before_the_disk_is_full_is_kept_and_said",
        ),
    ),
    Row(
        "F21",
        "an agent's holder is killed",
        "its agent ends, and that is said",
        (
            _AGENTS + "test_a_killed_holder_ends_its_agent_and_is_told",
            _SHIM + "test_a_lost_holders_agent_is_killed_and_what_it_said_is_kept",
        ),
    ),
    Row(
        "F22",
        "holders are left over",
        "make down leaves none; one that nobody takes up ends by itself",
        (
            _ALONE + "test_down_leaves_nothing_running",
            _ALONE + "test_down_after_a_killed_supervisord_ends_the_agents_too",
            _ALONE + "test_down_finds_what_a_lost_holder_left",
            _SHIM + "test_an_agent_that_nobody_asks_for_is_ended",
        ),
    ),
    Row(
        "F24",
        "a permission request is open while everything is restarted",
        "it is still asked, once, and answered once",
        ("tests/e2e/test_deaths.py::test_a_question_outlives_the_death_of_everything",),
    ),
    Row(
        "F25",
        "a cancel is given while the executor is away",
        "it takes effect on return",
        (
            _AGENTS + "test_what_is_ordered_while_we_are_away_is_done_when_we_return",
            _WINDOWS + "test_an_executor_killed_there_changes_nothing",
        ),
    ),
    Row(
        "F26",
        "the same command is sent twice",
        "it is done once, and answered twice alike",
        (
            _BUS + "test_a_command_ends_once_however_often_it_is_sent",
            _GATEWAY + "test_a_command_is_done_once_however_often_it_is_sent",
        ),
    ),
    Row(
        "F27",
        "a page is loaded anew in mid-answer",
        "it shows the text of the page that was not",
        ("tests/e2e/test_talking.py::test_two_tabs_and_a_reload_show_the_same_text",),
    ),
    Row(
        "F28",
        "one of two pages doesn't read",
        "it is cut and can go on; the other notices nothing",
        (
            _GATEWAY + "test_a_slow_page_delays_no_other_and_misses_nothing",
            _GATEWAY + "test_a_page_that_reads_nothing_is_cut_and_can_resume",
        ),
    ),
    Row(
        "F29",
        "a second bus is started by hand",
        "it ends before it takes a socket",
        (_DEATHS + "test_a_second_bus_ends_and_the_first_goes_on",),
    ),
    Row(
        "F30",
        "sockets and locks are left over from a kill",
        "the next start goes through",
        (_ALONE + "test_a_killed_supervisord_ends_services_but_no_agent_and_up_goes_on",),
    ),
    Row(
        "F31",
        "the path of a socket is too long",
        "a short private folder takes its place; one of somebody else's is refused in words",
        (
            _U + "sk_bus/test_paths.py::"
            "test_a_long_run_directory_is_replaced_by_a_short_private_one",
            _U + "sk_bus/test_paths.py::test_a_directory_of_somebody_elses_is_refused",
        ),
    ),
    Row(
        "F32",
        "the same file is opened a second time",
        "up says that it runs, and where; from elsewhere, the history lives in memory",
        (
            _UP + "test_a_second_up_says_where_it_runs_and_does_no_harm",
            _DEATHS + "test_data_that_another_instance_uses_leaves_memory_and_says_why",
            _OPENING + "test_a_database_that_another_holds_is_left_alone_until_the_next_epoch",
        ),
    ),
    Row(
        "F33",
        "another user of the machine knocks at sockets and files",
        "nothing opens",
        (
            _UP + "test_token_and_sockets_are_private",
            _DEATHS + "test_sockets_and_files_are_private",
        ),
        "docs/security.md",
    ),
    Row(
        "F34",
        "supervisord is killed -9",
        "services end, agents live, the next start takes them up",
        (_ALONE + "test_a_killed_supervisord_ends_services_but_no_agent_and_up_goes_on",),
    ),
    Row(
        "F35",
        "Ctrl-C is pressed in the terminal of the start, and it is closed",
        "nothing ends, nothing is restarted",
        (
            _SUPERVISION + "test_a_terminal_that_is_closed_takes_nothing_with_it",
            _SHIM + "test_what_a_terminal_sends_when_it_closes_does_nothing",
        ),
    ),
    Row(
        "F36",
        "a service can't begin, or fails again and again",
        "ever longer pauses, never given up; bus, page and status say so",
        (
            _SUPERVISION + "test_a_service_that_can_not_begin_is_said_and_comes_back",
            _HARNESS + "test_a_failure_makes_the_pause_before_the_next_longer",
            _U + "sk_config/test_components.py::test_deaths_in_a_row_are_left_to_the_supervisor",
        ),
    ),
    Row(
        "F37",
        "a service is killed four times as soon as it is there",
        "it comes back",
        (_CONFIG + "test_four_deaths_in_a_second_are_undone",),
    ),
    Row(
        "F38",
        "a service lives and does nothing (SIGSTOP)",
        "after 10 s it is killed and started anew; the answer ends whole",
        (
            _SUPERVISION + "test_services_that_hang_are_found_killed_and_started_again",
            _CONFIG + "test_a_hung_service_is_killed_and_started_again",
            "tests/process/test_gateway_whole.py::test_a_watcher_that_hangs_is_restarted",
        ),
    ),
    Row(
        "F39",
        "the disk is full, or can't be written",
        "services pause and say why; with room again everything acknowledged is there",
        (
            _DISK + "test_a_full_disk_is_said_and_with_room_again_everything_is_there",
            _DISK + "test_where_nothing_can_be_written_it_lives_in_memory_and_says_so",
            _DEATHS + "test_a_full_disk_ends_the_bus_and_loses_nothing_that_was_acknowledged",
            _OPENING + "test_without_room_it_ends_says_why_and_has_everything_once_there_is_some",
        ),
        "a disk that is merely slow delays what it delays; nothing here measures time by it",
    ),
    Row(
        "F40",
        "the clock goes back a day, and on two",
        "order by seq, timeouts as if nothing had been",
        (
            "tests/reliability/clock.py::test_an_answer_and_what_follows_stay_whole_and_in_order",
            (
                "tests/reliability/clock.py::"
                "test_a_service_that_is_killed_while_the_clock_is_wrong_comes_back"
            ),
        ),
    ),
    Row(
        "F41",
        "the machine sleeps in mid-answer",
        "nothing is taken for hung, the answer ends whole",
        (
            _SUPERVISION + "test_a_machine_that_slept_finds_everything_as_it_was",
            _U + "sk_config/test_components.py::test_after_a_sleep_of_ours_nobodys_silence_counts",
            _U + "sk_gateway/test_watch.py::test_a_gap_in_our_own_clock_starts_the_count_afresh",
        ),
        "SK_SUSPENDED=60: for a minute instead of 11 s",
    ),
    Row(
        "F42",
        "the power fails: the end of the log is missing, or it is of another boot",
        "a new epoch, a sane history, at most the last second gone",
        (
            _DEATHS + "test_a_harmed_journal_begins_a_new_epoch",
            _DEATHS + "test_a_reboot_begins_a_new_epoch_and_keeps_what_commands_did",
            (
                "tests/process/test_history_copies.py::"
                "test_copies_at_random_moments_open_with_everything_that_was_acknowledged"
            ),
        ),
    ),
    Row(
        "F43",
        "the system gives no descriptors, or no process",
        "the agent's start fails in words; whoever runs, runs on",
        (
            (
                "tests/process/test_scarce.py::"
                "test_without_descriptors_a_start_fails_and_those_who_run_go_on"
            ),
            _DEATHS + "test_few_descriptors_are_enough",
            _SHIM + "test_a_system_that_can_start_no_process_is_an_error_not_a_crash",
        ),
        "that no process can be forked is the same error of the same call; a limit of "
        "processes doesn't bind root, as whom the tests run",
    ),
    Row(
        "F44",
        "the journal grows",
        "it is pruned; who comes from below its floor is told to begin anew",
        (
            _U + "sk_bus/test_journal.py::test_pruning_leaves_what_is_needed_and_the_reserve",
            _BUS + "test_what_is_pruned_is_gone_for_followers_too",
            _GATEWAY + "test_a_page_whose_place_is_no_longer_in_the_journal_is_told",
        ),
        "the chaos run prunes many times",
    ),
    Row(
        "F45",
        "another page, or another host's name, drives the local server",
        "refused",
        (
            _GATEWAY + "test_a_foreign_host_is_refused",
            _GATEWAY + "test_a_foreign_origin_is_refused",
            _GATEWAY + "test_a_websocket_of_another_page_is_refused",
            _GATEWAY + "test_a_post_needs_the_token_and_finds_nothing_to_write_to",
        ),
        "docs/security.md",
    ),
    Row(
        "F46",
        "an agent tries to answer its own request",
        "its environment leads nowhere near bus or token; as the same user it could find them",
        (
            _SHIM + "test_an_agent_gets_its_surroundings_and_nothing_of_ours",
            _U + "sk_agents/test_environment.py::"
            "test_an_agent_gets_nothing_that_is_ours_or_of_whoever_started_us",
        ),
        "docs/security.md",
    ),
    Row(
        "F48",
        "logs are rotated while services write",
        "supervisord does it, from 4.3 on without eating a core",
        (),
        "pinned in requirements.lock; the fault was supervisord's own and is mended there",
    ),
    Row(
        "F49",
        "supervisorctl restart all, or SIGHUP to supervisord, in mid-answer",
        "the answer ends whole, agents notice nothing",
        (
            _SUPERVISION + "test_supervisorctl_restart_all_in_mid_answer_costs_no_word",
            _SUPERVISION + "test_sighup_restarts_every_service_and_no_agent",
            _SUPERVISION + "test_a_second_supervisord_ends_and_the_first_does_not_notice",
        ),
    ),
    Row(
        "F50",
        "a socket of ZeroMQ is used by two threads, or after a fork",
        "none is: sockets live in one loop, and processes are started by exec",
        (),
        "no module forks with a context open: only the holder forks, and it imports no ZeroMQ "
        "(tests/unit/test_imports.py)",
    ),
    Row(
        "I11",
        "an agent floods",
        "its backlog stays within its credit, others and commands don't wait for it",
        (
            _AGENTS + "test_one_agents_credit_is_its_own_and_bounds_its_backlog",
            _AGENTS + "test_after_our_death_what_is_not_decided_still_counts",
            _U + "sk_agents/test_credit.py::test_one_agents_flood_leaves_anothers_credit_alone",
            _U + "sk_bus/test_sequencer.py::"
            "test_while_the_journal_is_full_agents_wait_and_others_pass",
        ),
        "how long a command waits is measured by make bench (flood)",
    ),
    Row(
        "I12",
        "somebody who must read lags behind",
        "nothing that he needs leaves the journal, which keeps to its cap",
        (
            _U + "sk_bus/test_retention.py::test_the_slowest_who_must_read_decides",
            _U + "sk_bus/test_retention.py::test_until_all_have_spoken_nothing_goes",
            _U + "sk_bus/test_retention.py::test_what_goes_is_not_needed_and_leaves_the_reserve",
            _BUS + "test_a_follower_from_nowhere_is_told_to_resynchronise",
        ),
    ),
    Row(
        "I14",
        "an epoch begins",
        "the history says what it kept, commands wait for that, agents of before are ended",
        (
            _BUS + "test_commands_wait_until_the_history_has_spoken",
            _BUS + "test_a_follower_learns_of_a_new_epoch",
            _HARNESS + "test_it_ends_quietly_when_the_epoch_does",
            _DEATHS + "test_a_command_nobody_decided_on_is_done_in_the_next_epoch",
            _U + "sk_history/test_restoring.py::"
            "test_the_past_of_a_channel_comes_before_what_opens_the_epoch",
        ),
    ),
    Row(
        "I15",
        "secrets stand in the configuration, and a channel is deleted",
        "no secret is in an event, log or error; no file has a deleted text",
        (
            _CONFIG + "test_secrets_are_in_the_definition_alone",
            _AGENTS + "test_secrets_reach_the_agent_and_nothing_else",
            _U + "sk_config/test_secrets.py::test_no_secret_survives",
            (
                "tests/process/test_history_whole.py::"
                "test_a_deleted_channel_leaves_no_trace_in_any_file"
            ),
        ),
    ),
    Row(
        "chaos",
        "each and all are killed at random, while two agents answer three people",
        "nothing lost, nothing doubled, agents' pids the same",
        (
            _CHAOS + "test_killed_at_random_nothing_is_lost_doubled_or_different",
            _CHAOS + "test_without_compare_and_append_the_checker_sees_things_doubled",
            _CHAOS + "test_without_replay_the_checker_sees_things_lost",
            _CHAOS + "test_without_its_memory_the_router_leaves_messages_without_an_end",
            _CHAOS + "test_a_history_that_keeps_things_twice_is_found_out",
        ),
        "make chaos SEED=1; four runs with a promise switched off, which must be noticed",
    ),
)
