"""Where a study is read from: folder, archive or single file."""
