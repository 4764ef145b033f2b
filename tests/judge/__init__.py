"""Tests of machine judges that are asked."""
