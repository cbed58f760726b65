"""How the bundled judge is made."""
