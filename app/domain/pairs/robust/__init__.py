"""The robust sorter: what the answers of a fallible assessor make probable, and what to ask next.

It keeps a sample of the orders that the answers leave probable, asks the pair that says most about
the head of the list, and estimates how good its list is. Indices 0 to n - 1 stand for documents.
"""
