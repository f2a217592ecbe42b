"""Documents as operations see them: created, received, decided on, found, read, erased and collected."""
