"""What will run. In: a `Spec`. Out: a frozen `Plan` of cells and comparisons with ids, and the reasons of skips.

May import harness.spec and harness.records; never torch (what torch can do here comes from a probe subprocess).
"""
