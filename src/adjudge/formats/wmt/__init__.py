"""Files of the translation workshops that stand alone: rankings, post-edits and their judgments, the general task."""
