"""Systems of a study: their runs, and their scores on labels of people."""
