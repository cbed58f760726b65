"""Question -> plan -> passages -> evidence -> draft -> verified answer."""
