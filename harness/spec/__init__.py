"""What the user wrote. In: a YAML file. Out: a frozen `Spec`, or every mistake with file:line:column.

May import nothing of harness; never torch.
"""
