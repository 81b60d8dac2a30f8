"""`python -m rinn` is the command `rinn`."""

from rinn.cli import main

if __name__ == "__main__":
    main()
