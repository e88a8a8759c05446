"""The report of a run: one page that opens in any browser, without a network."""
