"""Two results folders against each other: of two versions of code or library, or of two machines.

In: plan, results and verdicts of both. Out: `Across`, what differs and what it did to accuracy, gains and verdicts.
"""
