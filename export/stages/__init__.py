"""The stages of a build; each takes what the stage before it gives."""
