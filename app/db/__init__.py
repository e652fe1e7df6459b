"""Tables, engines, migrations and queries."""
