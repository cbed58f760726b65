"""The books for assistants, by the Model Context Protocol: tools, resources and prompts."""
