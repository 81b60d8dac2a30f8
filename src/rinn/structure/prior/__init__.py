"""Prior knowledge: statements, gene sets and networks, brought to the columns of data."""
