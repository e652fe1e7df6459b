"""A backup is one zip: every table as JSON Lines, portable between SQLite and PostgreSQL.

It is read from one snapshot, so it is consistent and blocks no writer. It is restored into an empty
database of the same migration, all or nothing.
"""

from topkapi.app.services.backups.reading import read_backup
from topkapi.app.services.backups.writing import write_backup
