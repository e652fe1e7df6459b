"""Commands of each group with their summaries, and names for help texts: these import nothing else.

Tests compare them with the docstrings of the commands and with the tables that they name.
"""

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "db": {
        "upgrade": "Upgrade the database to the newest migration, in one transaction.",
        "downgrade": "Downgrade the database to an older migration. Data in newer tables is lost.",
        "check": "Print the database's migration; fail if it is outdated or the tables differ "
        "from the program.",
    },
    "users": {
        "add": "Create an account. The password is prompted for, or read from "
        "TOPKAPI_NEW_PASSWORD or a pipe.",
        "list": "List everyone, with role and state.",
        "disable": "Disable an account: refuse sign-ins, end sessions, revoke tokens (answers are "
        "kept).",
        "erase": "Permanently replace name and e-mail with a pseudonym (judgments are kept).",
        "password": "Set a new password, end every session, revoke tokens.",
        "reset-totp": "Turn off one-time codes for a person who lost the authenticator app.",
        "unlink": "Unlink an account from the OpenID provider; the next sign-in links it again.",
        "invite": "Create a one-time link to set a password, and the account if it does not exist.",
        "token": "Create an API token. It is shown only once.",
        "data": "Write all data stored about a person, as JSON.",
    },
    "study": {
        "new": "Write a small study into a new folder, to edit and import.",
        "import": "Import a study, or add data to the study of the same slug; all or nothing.",
        "list": "List the studies with their sizes and finished work.",
        "assign": "Assign work by rotation or from a CSV file; all or nothing.",
        "archive": "Archive a study: remove it from all queues (judgments are kept).",
        "progress": "Print the progress of a study: overall, and per assessor.",
        "payments": "Print hours and amounts per assessor as CSV; the rates are not stored.",
        "settings": "Show the settings of a study, or change some of them.",
        "access": "Grant or revoke researchers' access to a study, and list who has it.",
        "withdraw": "Withdraw an assessor's unfinished work (answers so far are kept).",
        "reassign": "Reassign an assessor's unfinished work to one person, or evenly to the "
        "others.",
        "void": "Exclude an assessor's finished work from consensus and report (it is kept).",
        "adjudicate": "List queries with disagreement, or assign the open pairs of one to a "
        "person.",
        "copy": "Write a full copy of a study, as required before deleting it.",
        "delete": "Delete an archived study that has a current full copy.",
    },
    "machine": {
        "import": "Import a machine's grades from elsewhere: qrels, or umbrela's JSON Lines.",
        "certificate": "Test whether a machine may replace a person, and write the certificate.",
    },
    "systems": {
        "add": "Add TREC runs to a study, one system per tag; all of them or none.",
        "list": "List the runs of a study.",
        "remove": "Remove the run of a system.",
        "scores": "Score all systems on people's labels, and compare them with a baseline.",
    },
    "simulate": {
        "sessions": "Simulate sessions: questions asked, and quality of the resulting list.",
        "votes": "Replay real votes; the truth comes from the votes not used as answers.",
        "frontier": "Plot quality against questions, for all sorters and both goals of robust.",
    },
    "rank": {
        "train": "Train a model, tuning its settings if validation data is given.",
        "score": "Score a model or a TREC run by any measures.",
        "bounds": "Check Lan et al.'s inequalities between losses and NDCG, per query.",
        "compare": "Tune, train and test models under graded and top-k ground truth (Niu et al., "
        "Tables 4, 5).",
        "sweep-beta": "Train FocusedRank at beta 0 to 1 by .05 (Niu et al., Figures 1 and 2).",
        "toprank-study": "Compare TopMargin, TopSlack, TopRank and its baselines "
        "(Cheng et al., section 4.2).",
        "sweep-k": "Train on the top k of full orders for rising k; test on the full order "
        "(Lan et al.).",
    },
    "dcg": {
        "learn": "Learn gains and discounts from preferences between lists, and cross-validate "
        "them.",
        "coherence": "Measure how often two settings of gains agree on rankings (Zhou et al. 2013, "
        "Figure 1).",
        "simulate": "Reproduce the simulations of Zhou et al. (2013), where the true gains are "
        "known.",
    },
}


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
