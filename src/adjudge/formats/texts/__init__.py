"""Texts to be judged: plain text, TSV, WMT XML and SGM."""
