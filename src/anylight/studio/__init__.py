"""The studio: a page on this computer where everything the command line does is done by hand."""
