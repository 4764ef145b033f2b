"""Results as files: the ending of a file's name says what is written."""
