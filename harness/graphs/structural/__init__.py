"""Columns of features that come from the edges alone. In: a `Csr` and a transform. Out: a column or more a node."""
