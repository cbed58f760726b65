"""The log of questions: written for every question, summed up for operators, read by authors."""
