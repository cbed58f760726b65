"""The books behind OpenAI's interface: /v1/chat/completions and /v1/models."""
