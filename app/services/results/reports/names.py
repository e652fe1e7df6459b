"""Names of people in reports."""

from collections import Counter

from topkapi.app.services.results.exports import StudySource


def names_of(source: StudySource) -> dict[int, str]:
    """Return the name per user, with the e-mail where two share a name."""
    everyone = source.assessors.people
    shared = Counter(person.name for person in everyone)
    return {
        person.user_id: f"{person.name} ({person.email})"
        if shared[person.name] > 1
        else person.name
        for person in everyone
    }
