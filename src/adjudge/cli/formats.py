"""`adjudge formats`: the file formats that can be read."""

from adjudge.cli import options as o


def formats(json: o.Json = False) -> None:
    """List the file formats that can be read.

    Example: adjudge formats
    """
    from adjudge.formats import FORMATS

    if json:
        from adjudge.cli.shared import print_json

        print_json({"formats": {name: what for name, (_, what) in FORMATS.items()}})
        return
    width = max(map(len, FORMATS))
    for name, (_, what) in FORMATS.items():
        print(f"{name:{width}}  {what}")
