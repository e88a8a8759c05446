"""The values that flow: what was photographed, what was found."""
