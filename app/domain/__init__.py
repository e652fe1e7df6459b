"""The pure core: sorters, the log and its replay, draws, progress, timing, simulated assessors."""
