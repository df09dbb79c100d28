"""What a person needs to know before a run. In: this machine. Out: findings with remedies, as lines or JSON.

May import harness.plan, what it may import, and of harness.runs what knows no torch; torch is asked in subprocesses
with a time limit, so that a crash or a hang is an answer too.
"""
