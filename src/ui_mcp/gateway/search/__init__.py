"""Search over the catalog: by words, by meaning, and by what was called after similar searches."""
