"""Results to the ledger of claims. In: entries of specs/claims, results of specs. Out: what holds, and how surely.

`measure` asks a spec's results for a quantity with its interval; `ledger` holds the interval to the entry's region.
"""
