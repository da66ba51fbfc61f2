"""The command line: verbs, their options, one line for every error."""
