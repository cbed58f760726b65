"""The database under the records: addresses, connections, transactions, migrations, errors."""
