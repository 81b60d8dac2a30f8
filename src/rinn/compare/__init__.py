"""Every strategy on the same tables, each in a process of its own."""
