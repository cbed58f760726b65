"""The roles of a language model: planner, searcher, validator and generator, and what they share."""
