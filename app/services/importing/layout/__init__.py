"""Which file of a study is what: opened, named, recognised, and the head read."""
