"""Scenarios of models: how coordinators execute requests, how clients divide their work."""
