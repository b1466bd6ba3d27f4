from sk_agents.environment import _MARK, Environment, public, said


def test_an_agent_gets_nothing_that_is_ours() -> None:
    given = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy",
        "SK_INSTANCE": "default",
        "SUPERVISOR_SERVER_URL": "unix:///run/x/sup.sock",
        "WHERE": "/run/x/bus.req",
        "SHLVL": "3",
    }
    assert public(given, "/run/x") == {"PATH": "/bin", "HTTPS_PROXY": "http://proxy"}


def test_what_start_up_files_print_is_not_taken_for_the_environment() -> None:
    output = b"Welcome!\n" + _MARK + b"22\0A=1\0B=x\ny=z" + _MARK + b"bye"
    assert said(output) == Environment({"A": "1", "B": "x\ny=z"}, 0o22)


def test_a_shell_that_says_nothing_is_not_believed() -> None:
    assert said(b"exec: tmux: not found") is None
