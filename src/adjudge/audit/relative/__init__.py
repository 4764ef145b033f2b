"""Audits of rankings and pairs: stability, influence, reliability, the A/A test. One module per question."""
