"""The commands, an idea a file, each registered in `harness.cli` by one line; and what several of them read."""
