"""The agreement and efficiency report of a study, made from plain arrays.

The caller (a service, a notebook, a file reader) fills a ``StudyData``:

- ``assessors``, ``queries``: names; every index below refers to these tuples.
- ``documents``: for each query the ids of its candidates in a fixed order (the study's).
- ``k``: length of the top-k lists, or None.
- ``tools``: one ``ToolData`` per tool, ``pairs`` before ``grades``; the first two are compared.

A ``ToolData`` holds, each where it exists:

- ``scores``: one ``Scores(query, assessors, values)`` per query with finished sessions;
  ``values`` (m, n) has a row for each assessor and a column for each candidate. Pairs tool: the
  labels of the top-k ground truth, made by ``topk_scores(groups, n, k)`` from the ranking as
  groups of tied candidates (bad pages are in F, so 0; NaN where a page could not be judged).
  Grades tool: the grade's number, greater is better; NaN where a page was not graded.
- ``judgments``: ``Judgments.of(assessor, query, left, right, answer, position, check)``, one row
  per effective answer ``left`` (1), ``tie`` (0) or ``right`` (-1) to a pair, checks included;
  ``left`` and ``right`` are candidate indices as shown on the screen. Answers that a page is bad
  or cannot be judged are no preferences: leave them out here, keep them in the timings.
- ``sessions``: ``Sessions.of(assessor, query, n, k, bound, finished)``, one row per assignment;
  ``bound`` is the sorter's proven bound (NaN where there is none).
- ``timings``: ``Timings.of(session, position, active, wall, effective)``, one row per answer
  of the log, undone ones included (``effective`` False); seconds; ``session`` is a row number
  of ``sessions``.

``build_report(study)`` returns a ``Report``; ``topkapi.analysis.report.files`` writes it.

>>> import numpy as np
>>> from topkapi.analysis.agreement import Scores
>>> lists = Scores(0, np.array([0, 1]), np.array([[2.0, 1.0, 0.0, 0.0], [2.0, 0.0, 1.0, 0.0]]))
>>> study = StudyData("Tiny", ("Ansa", "Bao"), ("q1",), (("a", "b", "c", "d"),),
...                   (ToolData("pairs", "T1 pairs", scores=(lists,)),), k=2)
>>> report = build_report(study)
>>> report.tools[0].agreement.overall.value, str(report.comparison.reason)
(0.5, 'fewer than two tools have shared judgments')
"""

from topkapi.analysis.report.build import build_report
from topkapi.analysis.report.record import Report
from topkapi.analysis.report.study import Options, StudyData, ToolData
from topkapi.analysis.report.subjects.lists import ListReport

__all__ = ["ListReport", "Options", "Report", "StudyData", "ToolData", "build_report"]
