"""Fits without a part of the data, made from the fit to all of it.

`rows` leaves out a few rows and `cells` a few cells, exactly. `each_unit` leaves out each annotator or document of a
large campaign in turn, nearly, with the covariances of `unit_blocks`.
"""
