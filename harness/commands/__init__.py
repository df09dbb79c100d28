"""Commands that are more than a call: each a file, registered in `harness.cli` by one line."""
