"""Pages under judgment: read as a browser reads them, cleaned, marked, and cached.

Pages are read as tokens (tags, texts), not as trees. A tree takes more than the page: where
formatting elements stay open, HTML's rules repeat them in every paragraph, and 270 kB become ten
million nodes. Tokens are as many as the page's tags, and they are what has to be checked: a page is
written again from the tags that may stay, all other signs escaped, so whatever a browser takes for
a tag has been looked at.
"""
