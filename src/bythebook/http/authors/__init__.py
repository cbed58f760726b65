"""What authors see: `/admin`, from the log of questions."""
