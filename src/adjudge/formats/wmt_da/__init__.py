"""Direct assessment as the translation workshops release it: the `ad-*.csv` family of files."""
