"""The files of a base directory: installed, laid out, moved from older versions."""
