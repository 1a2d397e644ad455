"""Names of the published graph's input and outputs."""

PREFIX = "likewise_"  # of every node and constant joined in; quantise keeps these in fp32
INPUT, PROBABILITIES = "pixels", "probabilities"
TOP_PROBABILITIES, TOP_INDICES = "top_probabilities", "top_indices"
