"""Fits made from another fit at its ratios of variances: for audits that leave something out hundreds of times."""
