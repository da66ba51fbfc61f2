"""`python -m supple`: the command line."""

from supple.cli.main import main

if __name__ == "__main__":
    main(prog_name="supple")
