"""The pure core: sorters, log and replay, random draws, progress, timing, simulated assessors."""
