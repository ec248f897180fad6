"""JSON documents: `groups` reads what is given, `answers` writes what comes out.

`values` has the checks of single values and `DocumentError`, which names the place of what is
wrong. Nothing here opens files or parses text: documents are what `json.loads` returns.
"""
