"""Full-text search of documents; history of guidelines; what a study was imported with.

SQLite searches an FTS5 index of the documents, without their contents; `topkapi.app.db.search`
maintains it. PostgreSQL searches a generated ``tsvector`` column of the contents.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0011"

_EDITS = ("study.settings", "study.guidelines")
_IMPORTS = ("study.create", "study.extend")


SQLITE = (
    "CREATE VIRTUAL TABLE document_search USING fts5("
    "body, content='', detail='none', tokenize='unicode61 remove_diacritics 0')",
    "INSERT INTO document_search(rowid, body) SELECT documents.id, contents.text FROM documents "
    "JOIN contents ON contents.hash = documents.content_hash",
)
POSTGRESQL = (  # a vector is limited to 1 MB, so only the beginning of a very long page is indexed
    "ALTER TABLE contents ADD COLUMN search tsvector GENERATED ALWAYS AS "
    "(to_tsvector('simple', left(text, 200000))) STORED",
    "CREATE INDEX ix_contents_search ON contents USING gin (search)",
)
SQLITE_DROPS = ("DROP TABLE document_search",)
POSTGRESQL_DROPS = (
    "DROP INDEX ix_contents_search",
    "ALTER TABLE contents DROP COLUMN search",
)


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def upgrade() -> None:
    op.add_column("studies", sa.Column("imported", sa.JSON(), nullable=True))
    op.create_table(
        "guideline_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["studies.id"],
            name="fk_guideline_versions_study_id_studies",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_guideline_versions_user_id_users",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_guideline_versions"),
        sa.UniqueConstraint("study_id", "number", name="uq_guideline_versions_study_id_number"),
        sqlite_autoincrement=True,
    )
    _backfill(op.get_bind())
    for statement in SQLITE if _is_sqlite() else POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    for statement in SQLITE_DROPS if _is_sqlite() else POSTGRESQL_DROPS:
        op.execute(statement)
    op.drop_table("guideline_versions")
    op.drop_column("studies", "imported")


def _backfill(connection: sa.Connection) -> None:
    """Begin the history with the present guidelines; note which studies were never edited."""
    connection.execute(
        sa.text(
            "INSERT INTO guideline_versions (study_id, number, text, source, created_at) "
            "SELECT id, 1, guidelines, 'import', created_at FROM studies"
        )
    )
    studies = sa.table(
        "studies",
        *(sa.column("id"), sa.column("slug"), sa.column("name"), sa.column("guidelines")),
        *(sa.column("settings", sa.JSON()), sa.column("imported", sa.JSON(none_as_null=True))),
    )
    for row in connection.execute(sa.select(studies)).all():
        if not _edited(connection, row.slug):
            head = {"name": row.name, "guidelines": row.guidelines, "settings": row.settings}
            of_one = sa.update(studies).where(studies.c.id == row.id)
            connection.execute(of_one.values(imported=head))


def _edited(connection: sa.Connection, slug: str) -> bool:
    """Return whether the study was edited after its last import, by the audit log."""
    events = sa.table("audit_events", sa.column("id"), sa.column("action"), sa.column("subject"))
    last = sa.select(events.c.action).where(events.c.subject == slug)
    last = last.where(events.c.action.in_((*_EDITS, *_IMPORTS))).order_by(events.c.id.desc())
    return connection.scalar(last.limit(1)) in _EDITS
