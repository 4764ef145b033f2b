"""Public data sets: a catalogue, which of them are downloaded, and downloads with checksums."""

from adjudge.datasets.catalogue import catalogue, data_folder, find_set, listed, where_is
from adjudge.datasets.fetching import at_hand, fetch

__all__ = ["at_hand", "catalogue", "data_folder", "fetch", "find_set", "listed", "where_is"]
