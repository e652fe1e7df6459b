"""Names of formats, models and figures for help texts, without the libraries behind them.

A test compares them with the tables that they name.
"""

MODELS = (
    *("regression", "ranksvm", "svm-map", "rankboost", "adarank", "ranknet", "listnet", "listmle"),
    *("rankcosine", "topk-listmle", "topk-listnet", "topk-rankcosine", "focused-svm"),
    *("focused-boost", "focused-net", "top-margin", "top-slack", "toprank", "lightgbm", "xgboost"),
)
TABLE_FORMATS = ("text", "csv", "markdown", "latex", "html")
PREFERENCE_FORMATS = ("pairs", "winners", "tags", "topk", "judgments", "qrels")
FIGURES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "21", "22")
LETOR_FIGURES = ("11", "12-13", "14-15", "23")
KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
EXPORTS = (
    *("topk.jsonl", "topk.parquet", "consensus.jsonl", "confidence.jsonl", "reliability.jsonl"),
    *("qrels", "beir.tsv"),
    *("prefs", "qrels_prefs", "letor", "grades.qrels", "judgments.jsonl", "judgments.parquet"),
    *("pairs.tsv", "pairs.parquet", "pref", "crowdkit.csv", "lists.jsonl", "timers.csv"),
    *("preferences.jsonl", "conversations.jsonl", "triplets.jsonl", "umbrela.jsonl"),
    *("calls.jsonl", "dataset"),
)
