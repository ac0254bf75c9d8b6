"""One module per command. They import the service only when they run, so that ``--help`` is quick."""
