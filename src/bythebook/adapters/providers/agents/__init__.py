"""Language models through the OpenAI Agents SDK, on any endpoint with OpenAI's chat completions."""
