"""Published competitors, written from their descriptions, to compare with."""
