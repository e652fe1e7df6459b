"""`reliability.jsonl`: how the members of teams err."""

from collections.abc import Iterator

from topkapi.analysis.data.exports import MemberReliability, reliability_lines
from topkapi.app.domain.pairs.confidence import Expected
from topkapi.app.services.judging.teams import reliabilities
from topkapi.app.services.results.exports.source import StudySource


def reliability(source: StudySource) -> Iterator[str]:
    """Return the lines of `reliability.jsonl`."""
    return reliability_lines(record for _, record in reliability_records(source))


def reliability_records(source: StudySource) -> Iterator[tuple[int, MemberReliability]]:
    """Yield the members of teams with their user ids, in the order of assessors."""
    found = reliabilities(source.session, source.study.id)
    for user_id in sorted(found, key=source.assessors.position):
        member = found[user_id]
        if source.only in (None, user_id):
            yield (
                user_id,
                MemberReliability(
                    study=source.study.slug,
                    assessor=source.assessors.name(user_id),
                    answers=member.answers,
                    error_rate=member.error_rate,
                    random=member.is_random,
                    lapse=_triple(member.lapse),
                    width=_triple(member.width),
                    tie_width=_triple(member.tie_width),
                    side=_triple(member.side),
                ),
            )


def _triple(value: Expected) -> tuple[float, ...]:
    return value.mean, value.low, value.high
