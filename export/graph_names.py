"""Names of the published graph's input and outputs."""

PREFIX = "likewise_"  # of every node and constant joined in; quantise keeps these in fp32
INPUT = "pixels"
PROBABILITIES, TOP_PROBABILITIES = "probabilities", "top_probabilities"
TOP_INDICES = "top_indices"
EMBEDDING = "embedding"
BOX_CORNERS, BOX_SCORES, BOX_CLASSES = "box_corners", "box_scores", "box_classes"
