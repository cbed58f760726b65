"""Pages and styles as they are served."""
