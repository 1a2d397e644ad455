"""The routes: the page, the version files, the inference protocol."""
