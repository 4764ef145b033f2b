"""Appraise: its result files read and written, its batches, accounts and error spans."""
