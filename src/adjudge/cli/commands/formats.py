"""`adjudge formats`: the file formats that can be read."""

from adjudge.cli import options as o


def formats(json: o.Json = False) -> None:
    """List the file formats that can be read.

    Example: adjudge formats
    """
    from adjudge.formats import FORMATS

    if json:
        from adjudge._version import __version__
        from adjudge.cli.output import print_json
        from adjudge.results.result import make_signature

        about = {"settings": {}, "set_aside": [], "version": __version__}
        signature = make_signature("formats", {}, f"{len(FORMATS)} formats", __version__)
        print_json(
            {"signature": signature, **about, "formats": {name: known.summary for name, known in FORMATS.items()}}
        )
        return
    width = max(map(len, FORMATS))
    for name, known in FORMATS.items():
        print(f"{name:{width}}  {known.summary}")
