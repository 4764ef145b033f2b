"""Measurements, side by side with what people use instead."""
