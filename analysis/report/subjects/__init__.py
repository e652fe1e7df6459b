"""The subjects of a report, each a module with its records, their computation and its view."""
