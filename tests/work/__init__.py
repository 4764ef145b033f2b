"""Tests of repeated work: tasks, processes, clusters, the cache and progress."""
