"""The comparison: methods × data sets, resumable, on one machine or a cluster."""
