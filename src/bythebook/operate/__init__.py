"""Questions -> answers as a service: who may ask, what was asked, what fails, what comes due."""
