"""Attacks on a started service, as an outsider or an operator's bad day would bring them: `make attack`."""
