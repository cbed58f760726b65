"""What a Python process imports as it starts: with this folder in its path, the guard of the tests."""

from network_guard import install_in_child  # type: ignore[import-not-found]

install_in_child()
