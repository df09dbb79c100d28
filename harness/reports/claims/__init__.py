"""The ledger of claims as people read it: in a terminal, in Markdown, and in a spec's report."""
