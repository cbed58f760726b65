"""The bundled models: how they are run, the encoder and the reader of pairs."""
