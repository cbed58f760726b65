"""Books on disk: pointers, generations, calibrations and cached vectors."""
