"""`python -m rlecon` is the command `rlecon`."""

from rlecon.cli import main

if __name__ == "__main__":
    main()
