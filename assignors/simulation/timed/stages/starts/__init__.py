"""Starts: members that start at one moment come to rest without an event; a module a protocol."""
