"""The robust sorter: a posterior over orders given the answers of a fallible assessor.

It samples orders from the posterior, asks the pair that is most informative about the head of the
list, and estimates the quality of its list. Documents are represented by the indices 0 to n - 1.
"""
