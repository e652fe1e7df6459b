"""Faults under load, and a verdict: nothing acknowledged is lost, duplicated, changed or invented.

.venv/bin/python -m bench.faults --faults 200
.venv/bin/python -m bench.faults --faults 40 --database postgresql --workers 2 --seed 7 --json

A real server process receives answers, undo and redo from assessors who judge through the API and
like the browser, some of them in two tabs at once, while an administrator imports studies and
starts jobs, and faults drawn by the seed are injected. Then the log in the database is compared
with what every client sent, was shown and was told; every acknowledged import must be there whole,
every other one whole or not at all, and every job must have ended.
"""
