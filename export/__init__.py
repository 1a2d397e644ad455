"""From a trained model to a verified, published version. Nothing here speaks HTTP."""
