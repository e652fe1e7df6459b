"""Machine assessors: models behind a chat endpoint that judge like people, in the same log."""
