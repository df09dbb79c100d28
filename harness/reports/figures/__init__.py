"""Figures of a report: each in a file of its own, `in_order` says which and in which order."""
