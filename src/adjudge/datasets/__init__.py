"""Public data sets: a catalogue, which of them are downloaded, and downloads with checksums."""
