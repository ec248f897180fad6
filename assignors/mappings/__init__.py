"""Mappings that are made when somebody first reads them."""
