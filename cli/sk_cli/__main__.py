"""`python -m sk_cli` is `sk-cli`."""

from sk_cli.main import main

if __name__ == "__main__":
    main()
