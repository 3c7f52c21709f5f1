"""The content every session starts with: the same bytes on every machine and every day.

Draws come from generators with fixed seeds, and every row is written with the clock at the moment it tells of.
"""
