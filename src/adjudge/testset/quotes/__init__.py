"""Quotation marks: a state machine over the whole document.

`marks` finds the marks of every segment and which way each faces, `cues` says what sounds like speech, `pairing`
follows quotations from segment to segment, `double` and `single` say what is wrong.
"""
