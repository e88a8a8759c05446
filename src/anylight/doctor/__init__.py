"""The doctor: what is wrong with photos before a run, and with a result after it."""
