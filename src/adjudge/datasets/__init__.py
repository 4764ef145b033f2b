"""Public data sets: a catalogue, which of them are downloaded, and downloads with checksums."""

from adjudge.datasets.catalogue import catalogue, data_folder, find_folder, find_set, list_sets
from adjudge.datasets.download import describe_found, fetch

__all__ = ["catalogue", "data_folder", "describe_found", "fetch", "find_folder", "find_set", "list_sets"]
