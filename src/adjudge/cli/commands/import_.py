"""`adjudge import`: converts any supported format to the judgment table."""

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def import_(
    files: o.Files,
    reading: Reading,
    output: o.Table,
    json: o.Json = False,
) -> None:
    """Read judgments in any supported format and write a judgment table.

    Example: adjudge import data_RNK.csv --format wmt-ranking -o wmt10.parquet
    """
    from adjudge.cli.output import write_output
    from adjudge.core.machine_judges import with_judges
    from adjudge.formats import native
    from adjudge.results.import_export import describe

    judgments = with_judges(reading.read(files))
    native.write(judgments, output)
    write_output({"all": describe(judgments, reading.for_files(files).settings)}, json=json, output=None)
