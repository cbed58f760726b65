"""A Qdrant server as the chunk index; texts and term counts stay in the data folder."""
