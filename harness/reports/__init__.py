"""Verdicts to what people look at. In: `verdicts.json` and timing results. Out: tables, figures, the page.

May import harness.verdicts and what it may import; never torch.
"""
