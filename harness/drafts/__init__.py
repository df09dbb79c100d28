"""A first spec. In: the name of a data set, or files. Out: a commented spec that validates, plans and runs as it is.

May import everything but the CLI; torch only where a data set's source needs it.
"""
