"""One file a command. `sk_cli.main` imports a file only when its command is called."""
