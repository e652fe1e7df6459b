"""Background jobs: a table of jobs, workers that take them, and the kinds of computation.

`store` has the queue, `worker` runs jobs, `kinds` names what can be run. Nothing is pickled:
parameters and results are JSON.
"""
