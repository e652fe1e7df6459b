"""Base of all tables: constraint names, times in UTC, enumerations stored by value."""

import enum
from datetime import UTC, datetime
from typing import Annotated, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Enum,
    MetaData,
    Table,
    TypeDecorator,
    func,
    select,
)
from sqlalchemy.orm import DeclarativeBase, Session

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

Json = dict[str, Any]


BigInt = Annotated[int, 64]  # bits: a column for milliseconds or bytes


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite drops time zones, so reading restores them."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a time to UTC, or raise if it has no time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without zone cannot be stored: {value!r}")
        in_utc = value.astimezone(UTC)
        return in_utc.replace(tzinfo=None) if dialect.name == "sqlite" else in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return an aware time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def enum_values(kind: type[enum.Enum]) -> list[str]:
    """Return the values of an enumeration, which are what is stored."""
    return [str(member.value) for member in kind]


class Base(DeclarativeBase):
    """Base class of every table."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it once, at class creation)
        datetime: UtcDateTime(),
        BigInt: BigInteger(),
        Json: JSON(none_as_null=True),
        enum.Enum: Enum(enum.Enum, native_enum=False, length=20, values_callable=enum_values),
    }

    @classmethod
    def __table_cls__(cls, name: str, metadata: MetaData, *parts: Any, **options: Any) -> Table:
        """Create the table of a model; an ``id`` is never reused, on SQLite either."""
        numbered = any(isinstance(part, Column) and part.name == "id" for part in parts)
        return Table(name, metadata, *parts, sqlite_autoincrement=numbered, **options)


def now() -> datetime:
    """Return the current time in UTC, the default of ``created_at`` columns."""
    return datetime.now(UTC)


def clock(session: Session) -> datetime:
    """Return the time of the database server; on SQLite, of this host."""
    if session.get_bind().dialect.name != "postgresql":
        return now()
    return session.scalars(select(func.clock_timestamp(type_=UtcDateTime()))).one()
