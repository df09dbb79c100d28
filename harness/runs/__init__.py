"""Measuring one run. In: a variant's plan. Out: a record for every run, whatever happened, and timing blocks.

May import harness.models and what it may import.
"""
