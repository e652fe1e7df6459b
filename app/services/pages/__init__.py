"""Pages under judgment: tokenized as in a browser, sanitized, highlighted, and cached.

Pages are processed as tokens (tags, texts), not as trees. A tree can be much larger than the page:
HTML's rules repeat unclosed formatting elements in every paragraph, so that 270 kB become ten
million nodes. The number of tokens is proportional to the number of tags, and tokens are what has
to be checked: a page is written again from the allowed tags, with all other characters escaped, so
everything that a browser parses as a tag has been checked.
"""
