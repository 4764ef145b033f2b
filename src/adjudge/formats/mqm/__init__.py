"""MQM ratings: read and written, and what an error costs."""
