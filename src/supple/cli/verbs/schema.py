"""The JSON schema of robot files."""

from __future__ import annotations

import click

from supple.cli.options import print_json


@click.command()
def schema() -> None:
    """Print the JSON schema of robot files, for editors that complete keys."""
    from supple.robot.description import RobotFile

    print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **RobotFile.model_json_schema(by_alias=True)})
