"""The page: figures large enough to read, and beside each the claims it bears on."""
