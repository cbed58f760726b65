"""Retrievers for LangChain and LlamaIndex over a ByTheBook service, each an extra."""
