"""Small groups without numpy: the same answers as the arrays, where numpy's calls cost most."""
