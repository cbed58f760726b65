"""Language models through the OpenAI Agents SDK, on any endpoint that speaks OpenAI's chat completions."""
