"""One sentence per action of the audit log; its detail stays below, folded."""

from collections.abc import Mapping

from topkapi.app.web.common.formats import counted

SENTENCES = {  # of actions whose detail matters; others are named by their verb
    "assignment.restore": "Gave back {some} of {person}",
    "assignment.unvoid": "Gave back {some} of {person}, void until then",
    "assignment.void": "Voided {some} of {person}: {reason}",
    "assignment.withdraw": "Withdrew {some} of {person}",
    "flag.add": "Flagged a question of {query}",
    "job.start": "Started a job: {kind}",
    "job.stop": "Stopped a job: {kind}",
    "study.assign": "Assigned {some} to {person}",
    "study.copy": "Downloaded a full copy",
    "study.create": "Imported {queries} and {documents}",
    "study.download": "Downloaded {file}",
    "study.extend": "Added {queries} and {documents}",
    "study.give_access": "Gave {person} access",
    "study.guidelines": "Changed the guidelines",
    "study.machine_grades": "Imported the grades of {machine}",
    "study.prompt": "Changed the prompt of a machine",
    "study.settings": "Changed settings: {names}",
    "study.take_access": "Took access from {person}",
    "token.issue": "Created the token “{name}”",
    "token.revoke": "Revoked the token “{name}”",
    "training.grant": "Granted {person} another try at the training",
    "user.accept": "Accepted an invitation",
    "user.change_role": "Changed the role of {whom} from {before} to {after}",
    "user.create": "Created the account of {whom} ({role})",
    "user.link": "Linked {whom} to another site",
    "user.refuse": "Refused a sign-in of {whom}",
    "user.refuse_code": "Refused a one-time code of {whom}",
    "user.reset": "Made a link for {whom}",
    "user.set_password": "Set the password of {whom}",
    "user.sign_in": "Signed in",
    "user.recovery_codes": "Made recovery codes",
    "user.totp_off": "Turned off one-time codes of {whom}",
    "user.totp_on": "Turned on one-time codes",
    "user.use_recovery_code": "Used a recovery code",
}


def emails_of(detail: Mapping[str, object]) -> list[str]:
    """Return the addresses that a detail names."""
    assessors, person = detail.get("assessors", ()), detail.get("person")
    found = assessors if isinstance(assessors, list | tuple) else ()
    return [str(each).split(" ")[0] for each in (*found, *([person] if person else []))]


def sentence_of(
    action: str, subject: str, detail: Mapping[str, object], names: Mapping[str, str]
) -> str:
    """Return what was done to what; ``names`` are those of people by address."""
    people = [names.get(email, email) for email in emails_of(detail)]
    count = detail.get("assignments", 0)
    whose = people[0] if len(people) == 1 else f"{len(people)} people"
    some = f"{count} assignment{'s' * (count != 1)}"
    whom = names.get(subject, subject)
    settings = ", ".join(detail).replace("_", " ")
    for key, one in (("queries", "query"), ("documents", "document")):
        if isinstance(found := detail.get(key), int):
            detail = {**detail, key: counted(found, one, key)}
    known = dict(detail, whom=whom, some=some, person=whose, names=settings)
    try:
        return SENTENCES[action].format(**known)
    except KeyError:
        what, _, verb = action.replace("_", " ").partition(".")
        past = verb.capitalize() + ("d" if verb.endswith("e") else "ed")
        return f"{past} {whom if what == 'user' else what}"
