"""Looking at an ONNX file that nobody here made: by its bytes, by its graph, by running it."""
