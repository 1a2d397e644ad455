"""Making the smaller variants: one file a precision."""
