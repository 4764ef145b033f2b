"""Commands for a campaign, from its start to its archive."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adjudge.shell.declare import BEFORE, DURING, command
from adjudge.shell.options import campaign_argument, check_table, database_option, silent
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.protocols import COLLECTED
from adjudge.table.settings import REQUIRED, argument, option
from adjudge.table.wording import agreeing, counted, split_names

if TYPE_CHECKING:
    from adjudge.campaigns.results import Archived, BackedUp, Erased, Extended, Initialised, Moved, Restored, Verified
    from adjudge.judges.ask import Judged, JudgeSettings, Preview
    from adjudge.readers.summary import Exported
    from adjudge.server.preparation import NewLink
    from adjudge.server.serve import Opened
    from adjudge.table.judgments import Judgments


def _named_files(typed: Sequence[str], role: str = "system") -> dict[str, Path] | Path:
    """The files of `--system NAME=FILE`, or the folder of `--systems FOLDER`."""
    if len(typed) == 1 and "=" not in typed[0] and (role == "reference" or Path(typed[0]).is_dir()):
        return Path(typed[0])
    files: dict[str, Path] = {}
    for text in typed:
        name, equals, file = text.partition("=")
        if not (equals and name.strip() and file.strip()):
            raise UsageError(
                f"{param(role)} '{text}' is neither a folder nor of the form NAME=FILE; write {param(role)} "
                f"{'ours=ours.txt' if role == 'system' else 'refA=refA.txt'}"
            )
        if name.strip() in files:
            raise UsageError(f"{param(role)} names '{name.strip()}' twice; give every {role} a name of its own")
        files[name.strip()] = Path(file.strip())
    return files


def _paths(files: Mapping[str, str | Path] | str | Path) -> dict[str, Path] | Path:
    return Path(files) if isinstance(files, str | Path) else {name: Path(file) for name, file in files.items()}


def _people(typed: str) -> int | str:
    # -3 is a wrong number of people, not a name: it is refused as a number.
    # int() takes no thousands of digits, and so few are too many people already.
    return int(typed.strip()[:18]) if typed.strip().removeprefix("-").isdecimal() else typed


def _annotators(given: int | str | Iterable[str]) -> int | tuple[str, ...]:
    # A text is an iterable of letters, too; here it holds names with commas between them.
    if isinstance(given, int):
        return given
    return split_names(given) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True, kw_only=True)
class InitSettings:
    """A new campaign."""

    folder: Path = argument(
        REQUIRED,
        "The folder of the new campaign.",
        metavar="FOLDER",
        about="the folder of the campaign; made if it does not exist. Nothing in it is overwritten.",
    )
    protocol: Literal["da", "ranking", "pairwise", "sqm", "esa", "mqm", "postedit", "acceptability"] | None = option(
        None,
        "How people judge: da (default), ranking, pairwise, sqm, esa, mqm, postedit or acceptability.",
        typed=str | None,
        about="how people judge; `da` if nothing is said.",
    )
    pair: str | None = option(
        None,
        "The language pair, such as en-de.",
        metavar="SRC-TGT",
        about="the language pair, such as `en-de`; needed with texts of your own.",
    )
    source: Path | None = option(
        None,
        "The source text: one segment per line, a blank line between documents. For several language pairs, a folder.",
        about="the source text, one segment per line, a blank line between documents; for several language pairs, a "
        "folder with a file per pair. Default: made-up example texts.",
    )
    systems: Mapping[str, Path] | Path | None = option(
        None,
        "A system's translation of the source (may be repeated); or a folder with a file per system, or with such a "
        "folder per language pair.",
        "--system",
        "--systems",
        metavar="NAME=FILE|FOLDER",
        typed=list[str] | None,
        parse=_named_files,
        python="Mapping[str, str | Path] | str | Path | None",
        about="by the name of a system, its translation of the same lines; or a folder with a file per system, or with "
        "such a folder per language pair, of which each becomes a campaign.",
        convert=_paths,
    )
    references: Mapping[str, Path] | Path | None = option(
        None,
        "A human translation of the source (may be repeated), or a folder of them.",
        "--reference",
        metavar="FILE|NAME=FILE|FOLDER",
        typed=list[str] | None,
        parse=partial(_named_files, role="reference"),
        python="Mapping[str, str | Path] | str | Path | None",
        about="by name, human translations of the same lines; or one file, or a folder.",
        convert=_paths,
    )
    annotators: int | tuple[str, ...] | None = option(
        None,
        "Number of annotators, or their names: Marie,Jean. Default: 2.",
        metavar="N|NAMES",
        typed=str | None,
        parse=_people,
        python="int | Iterable[str] | None",
        about="number of annotators, or their names. Default: 2, or as the other tool's file says.",
        convert=_annotators,
    )
    from_tool: Path | None = option(
        None,
        "Take the texts of a campaign of another tool: Appraise batches or a Pearmut campaign file (JSON).",
        "--from",
        metavar="FILE",
        about="Appraise batches or a Pearmut campaign file, whose texts are taken.",
    )

    def __post_init__(self) -> None:
        if self.protocol is not None and self.protocol not in COLLECTED:
            raise unknown_choice("protocol", self.protocol, COLLECTED)


def _tell_next(started: Initialised, **_: InitSettings) -> None:
    print("Next:", *started.next, sep="\n  ")


@command(
    "init",
    BEFORE,
    "adjudge init my-campaign --protocol da --pair en-de",
    details=f"Without {param('source')} and {param('system')}, the texts are made-up examples, so that the campaign "
    "can be tried at once.",
    about="Start a campaign: write a folder with a campaign file that explains itself, and with texts.",
    then=_tell_next,
    output=False,
)
def init(settings: InitSettings) -> Initialised:
    """Start a campaign: write a folder with a campaign file that explains itself, and with texts.

    Returns:
        The files, and under `next` the commands that come next.
    """
    from adjudge.campaigns.start import init as start

    return start(**vars(settings))


@dataclass(frozen=True, kw_only=True)
class ExtendSettings:
    """What is added to a campaign."""

    campaign: Path = campaign_argument()
    judgments: int = option(
        0, "Add tasks for about this many further judgments of the same texts and systems.", least=0
    )
    beside: float = option(
        1.0, "Scores: how many outputs of earlier systems to judge beside each output of a new system."
    )
    dry_run: bool = option(False, "Only show what would be added, with the balance before and after.", "--dry-run")
    url: str | None = option(None, "Public URL, with which new links begin. Default: that of the running server.")
    links: Path | None = option(
        None,
        "Append the new links to this TSV file (readable only by you) instead of printing them.",
        about="write new links to this file (TSV) instead of the result.",
    )
    database: str | None = database_option()


def _tell_links(done: Extended, settings: ExtendSettings) -> None:
    if settings.dry_run:
        return
    for link in done.links:
        print(f"  {link.name:<14} {link.link}")
    once = " Links are shown only once." if done.links else ""
    print(f"Servers that run take this up within a few seconds.{once}")


@command("extend", DURING, "adjudge extend campaign.toml --judgments 6 --dry-run", then=_tell_links, output=False)
def extend(settings: ExtendSettings) -> Extended:
    """Extend a campaign that runs or has run, without touching what was judged.

    Add annotators, systems or documents to the campaign file first; this command makes tasks for what is new.
    """
    from adjudge.evidence.look import read_history
    from adjudge.server.extend import LooksTaken
    from adjudge.server.extend import extend as extend_campaign

    # The planned looks that the organisers' page has taken.
    history, looks = read_history(settings.campaign.with_name("looks.json")), None
    if history is not None and history.records:
        looks = LooksTaken(len(history.records), history.plan, history.records[-1].fraction)
    given = dict(vars(settings))
    campaign, base, links_file = (given.pop(name) for name in ("campaign", "url", "links"))
    return extend_campaign(campaign, **given, base=base, links_file=links_file, looks=looks)


@dataclass(frozen=True, kw_only=True)
class BackupSettings:
    """A campaign and its archive."""

    campaign: Path = campaign_argument()
    output: Path = option(REQUIRED, "The archive to write, a .zip file.", "--output", "-o", positional=True)
    database: str | None = database_option()


@command("backup", DURING, "adjudge backup campaign.toml -o backup.zip", output=False)
def backup(settings: BackupSettings) -> BackedUp:
    """Back up a campaign while people judge: database, campaign file, texts, tasks, looks and key in one archive.

    The archive is secret: it holds all that people said, and the key that signs their sessions.
    """
    from adjudge.server.copies import backup as back_up

    return back_up(settings.campaign, settings.output, database=settings.database)


@dataclass(frozen=True, kw_only=True)
class RestoreSettings:
    """An archive, and where the campaign comes."""

    archive: Path = argument(REQUIRED, "The archive that `adjudge backup` wrote.", metavar="BACKUP")
    folder: Path = argument(REQUIRED, "A new or empty folder for the campaign.", metavar="FOLDER")
    database: str | None = option(
        None,
        "Restore into this empty PostgreSQL database, postgres://user:password@host/name. Default: SQLite in the "
        "folder.",
    )


@command("restore", DURING, "adjudge restore backup.zip restored", output=False)
def restore(settings: RestoreSettings) -> Restored:
    """Restore a campaign from a backup, with all judgments, their history and everybody's links."""
    from adjudge.server.copies import restore as make_again

    return make_again(settings.archive, settings.folder, database=settings.database)


@dataclass(frozen=True, kw_only=True)
class MoveSettings:
    """A campaign and its new database."""

    campaign: Path = campaign_argument()
    to: str = option(
        REQUIRED,
        "An empty PostgreSQL database, postgres://user:password@host/name, or a new file.sqlite3.",
        metavar="URL|FILE",
        positional=True,
        python="str | Path",
        convert=str,
    )
    database: str | None = database_option()


@command("move", DURING, "adjudge move campaign.toml --to other.sqlite3", output=False)
def move(settings: MoveSettings) -> Moved:
    """Move a campaign that is not being served to another database: from SQLite to PostgreSQL, or back.

    All rows are compared before the campaign is switched over, and the former database stays as it is.
    """
    from adjudge.server.copies import move as move_campaign

    return move_campaign(settings.campaign, settings.to, database=settings.database)


@dataclass(frozen=True, kw_only=True)
class JudgeFiles:
    """A campaign, and the judgment table of a machine judge."""

    campaign: Path = argument(
        REQUIRED, "The campaign file, or its tasks from 'adjudge design' (JSON).", metavar="CAMPAIGN"
    )
    output: Path | None = option(
        REQUIRED,
        "The judgment table to write: .parquet, .csv or .tsv.",
        "--output",
        "-o",
        positional=True,
        about="the judgment table to write (.parquet, .csv or .tsv). Answers are kept beside it as they come; call "
        "again with the same arguments to ask what is missing.",
    )
    dry_run: bool = option(
        False,
        "Show one prompt and count the questions; nothing is sent.",
        "--dry-run",
        only="command line",
        after="ask_again",
    )
    tell: Callable[[str], None] = option(silent, "Is told how far it has come.", only="python", after="seed")


def _judge_and_tell(files: JudgeFiles, settings: JudgeSettings, *, json: bool) -> Judged | Preview:
    from adjudge.judges.ask import judge as ask_judge
    from adjudge.judges.ask import preview
    from adjudge.shell.output import progress, tell_written

    if files.dry_run:
        shown = preview(files.campaign, settings=settings)
        if not json:
            print(shown.prompt)
        return shown
    if files.output is None:
        raise UsageError(f"{param('output')} is missing; name the judgment table to write, such as judge.parquet")
    try:
        with progress() as tell:
            result = ask_judge(files.campaign, files.output, settings=settings, tell=tell)
    except KeyboardInterrupt:
        print("adjudge: the answers so far are kept; run the same command to go on", file=sys.stderr)
        raise
    tell_written(files.output)
    return result


@command(
    "judge",
    DURING,
    "adjudge judge campaign.toml --endpoint http://127.0.0.1:8000/v1 --model NAME -o judge.parquet",
    line=_judge_and_tell,
    settings="adjudge.judges.ask:JudgeSettings",
    output=False,
)
def judge(files: JudgeFiles, settings: JudgeSettings) -> Judged:
    """Let a language model judge the outputs of a campaign, as a machine judge that never counts as a person.

    Answers are kept beside the output as they come. Run the same command again to ask what is missing.

    Returns:
        The counts; `.judgments` has the table.
    """
    from adjudge.judges.ask import judge as ask_judge

    return ask_judge(files.campaign, files.output, settings=settings, tell=files.tell)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """A campaign and what is written of it."""

    campaign: Path = campaign_argument()
    output: Path = option(
        REQUIRED, "The file to write; .parquet, .csv or .tsv for the judgment table.", "--output", "-o"
    )
    format: str = option(
        "judgments", "judgments (the judgment table, with history), appraise, mqm or post-edits.", "--format", "-f"
    )
    with_excluded: bool = option(
        False, "Include excluded annotators, marked in the column 'excluded'.", "--with-excluded"
    )
    numbers: bool = option(False, "Write numbers in the place of people's names, the same as 'adjudge archive'.")
    draws: Path | None = option(
        None, "Adaptive campaigns: write every decision with its probabilities to this file (JSON lines)."
    )
    database: str | None = database_option()


@command("export", DURING, "adjudge export campaign.toml -o judgments.parquet", output=False)
def export(settings: ExportSettings) -> Exported:
    """Export the judgments of a served campaign, at any time."""
    from adjudge.readers.summary import describe_export
    from adjudge.server.serve import export_judgments
    from adjudge.shell.panels import read_looks

    name, with_excluded = settings.format, settings.with_excluded
    if name not in ("judgments", "appraise", "mqm", "post-edits"):
        raise unknown_choice("format", name, ("judgments", "appraise", "mqm", "post-edits"))
    if settings.numbers and settings.draws is not None:
        raise UsageError(f"{param('draws')} names people, because draws depend on them; leave out {param('numbers')}")
    if name == "judgments":
        check_table(settings.output)
    with_texts = name in ("mqm", "post-edits")
    judgments = export_judgments(
        settings.campaign,
        database=settings.database,
        with_excluded=with_excluded,
        with_texts=with_texts,
        numbers=settings.numbers,
        read_looks=partial(read_looks, settings.campaign),
    )
    written = _write_judgments(judgments, name, settings.output)
    if settings.draws is not None:
        _write_draws(settings.draws)
    return describe_export(written, {"format": name, "with_excluded": with_excluded})


def _write_draws(file: Path) -> None:
    """Write the decisions, and say whether replaying the log reproduces them; where it does not, that is an error."""
    from adjudge.server.tasks import draws, is_adaptive
    from adjudge.server.verify import check_draws
    from adjudge.table.errors import DataError
    from adjudge.table.files import write_text

    if not is_adaptive():
        without = "this campaign file has no [adaptive], leave it out"
        raise UsageError(f"{param('draws')} is for adaptive campaigns; {without}")
    decisions = draws()
    write_text(file, "".join(json_module.dumps(decision, ensure_ascii=False) + "\n" for decision in decisions))
    told = f"{counted(len(decisions), 'decision')} written to {file}"
    if faults := list(check_draws()):
        raise DataError(f"{told}, but {faults[0]}; see all faults with adjudge verify")
    print(f"{told}; all reproduced from the log", file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class VerifySettings:
    """A campaign whose log is checked."""

    campaign: Path = campaign_argument()
    export: Path | None = option(
        None, "Also compare this exported judgment table with the log, column by column.", metavar="FILE"
    )
    database: str | None = database_option()


@command("verify", DURING, "adjudge verify campaign.toml", output=False)
def verify(settings: VerifySettings) -> Verified:
    """Check that nothing in a campaign's database was changed, removed or reordered.

    Saves, draws, looks and exclusions are chained by digests, and everything else that an export shows is computed
    from them again. The exit code is 1 if anything differs.
    """
    from adjudge.campaigns.results import Verified
    from adjudge.server.serve import open_served
    from adjudge.shell.panels import read_looks
    from adjudge.table.errors import AdjudgeError

    looks, broken = None, []
    try:
        looks = read_looks(settings.campaign)
    except AdjudgeError as fault:
        broken.append(fault.for_command_line())
    with open_served(settings.campaign, settings.database):
        from adjudge.server.served_campaign import get_served
        from adjudge.server.verify import check_export, verify_log

        found = verify_log(None if broken or looks is None else looks.taken, unreadable=bool(broken))
        if settings.export is not None:
            found.faults += check_export(settings.export)
        tasks = get_served().tasks
    return Verified(
        settings={"export": None if settings.export is None else str(settings.export)},
        data=tasks.fingerprint,
        campaign=tasks.campaign,
        checked=found.checked,
        faults=(*broken, *found.faults),
        notes=tuple(found.notes),
    )


@dataclass(frozen=True, kw_only=True)
class EraseSettings:
    """A campaign and the person who is to be erased."""

    campaign: Path = campaign_argument()
    person: str = option(REQUIRED, "The name of the person, as the organisers' page shows it.", metavar="NAME")
    judgments: bool = option(False, "Erase the person's judgments, too. Default: they stay under a number.")
    database: str | None = database_option()


@command("erase", DURING, 'adjudge erase campaign.toml --person "Anna Smith"', output=False)
def erase(settings: EraseSettings) -> Erased:
    """Erase a person for good: name, form and links. The log says so, and 'adjudge verify' still passes.

    The name is replaced in tasks.json and in the campaign file, too. Servers that run need no restart.
    """
    from adjudge.campaigns.results import Erased
    from adjudge.server.serve import open_served
    from adjudge.table.errors import DataError

    with open_served(settings.campaign, settings.database):
        from adjudge.server.answers import Refused
        from adjudge.server.erasing import erase as erase_person
        from adjudge.server.models import Annotator
        from adjudge.server.served_campaign import get_served

        person = Annotator.objects.filter(name=settings.person).first()
        if person is None:
            raise DataError(
                f"nobody is called '{settings.person}' in this campaign; the organisers' page has the names"
            )
        try:
            who = "adjudge erase"
            done = erase_person(person, who, judgments=settings.judgments, campaign_file=settings.campaign)
        except Refused as refused:
            raise DataError(str(refused)) from refused
        tasks = get_served().tasks
    return Erased(
        settings={"judgments": settings.judgments},
        data=tasks.fingerprint,
        campaign=tasks.campaign,
        number=done.number,
        saves_removed=done.saves,
        notes=done.notes,
    )


@dataclass(frozen=True, kw_only=True)
class ArchiveSettings:
    """A campaign and the folder of its pages."""

    campaign: Path = campaign_argument()
    output: Path = option(REQUIRED, "A new or empty folder for the pages.", "--output", "-o", metavar="FOLDER")
    database: str | None = database_option()


@command("archive", DURING, "adjudge archive campaign.toml -o pages", output=False)
def archive(settings: ArchiveSettings) -> Archived:
    """Write pages that show what annotators saw and did, to publish with the data: without names or scripts.

    The folder also holds the judgments with the same numbers, as CSV.
    """
    from adjudge.campaigns.results import Archived
    from adjudge.server.serve import open_served

    with open_served(settings.campaign, settings.database):
        from adjudge.server.served_campaign import get_served
        from adjudge.server.static_archive import write_archive

        written = write_archive(settings.output)
        tasks = get_served().tasks
    return Archived(
        settings={},
        data=tasks.fingerprint,
        campaign=tasks.campaign,
        folder=str(settings.output),
        pages=written.pages,
        people=written.people,
        rows=written.rows,
        notes=("comments are published as they were written; look through them for names",),
    )


def _write_judgments(judgments: Judgments, name: str, output: Path) -> Judgments:
    """Write the judgments in the format of this name, and return those that it can hold."""
    import polars as pl

    from adjudge.readers import appraise_batches, mqm, native
    from adjudge.readers.post_edits import write_post_edits
    from adjudge.table.errors import DataError

    if name == "judgments":
        native.write(judgments, output)
        return judgments
    if name == "mqm":
        mqm.write(judgments, output)
        return mqm.written(judgments)
    if name == "post-edits":
        return write_post_edits(judgments, output)
    if "postedit" in judgments.protocols:
        raise DataError("Appraise files hold no post-edits; export judgments or post-edits")
    no_type = "attention check, for which Appraise files have no type"
    judgments = judgments.keep(pl.col("kind") != "attention", otherwise=no_type)
    if not judgments.table["rank"].is_not_null().any():
        taken_back = "score that was taken back, which Appraise files cannot hold"
        judgments = judgments.keep(pl.col("score").is_not_null(), otherwise=taken_back)
    appraise_batches.write(judgments, output)
    return judgments


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Campaigns and their server."""

    campaigns: list[Path] = argument(
        REQUIRED, "The campaign file, several of them, or a folder that holds campaigns.", metavar="CAMPAIGN"
    )
    port: int = option(8000, "Port to listen on.", least=1, most=65535)
    host: str = option("127.0.0.1", "Address to listen on; 0.0.0.0 for all interfaces.")
    tasks: Path | None = option(None, "The task file. Default: tasks.json next to the campaign file.")
    database: str | None = database_option()
    workers: int | None = option(None, "Number of server processes. Default: 1 with SQLite, 2 with PostgreSQL.")
    url: str | None = option(None, "Public URL, if the server is behind a proxy; it may have a path.")
    links: Path | None = option(
        None, "Append new links to this TSV file (readable only by you) instead of printing them."
    )
    new_links: bool = option(False, "Create new links for all annotators and revoke the old ones.", "--new-links")


@command("serve", DURING, "adjudge serve campaign.toml --port 8000", output=False)
def serve(settings: ServeSettings, *, json: bool) -> None:
    """Serve campaigns on the web: annotators judge in their browsers, organisers follow the progress.

    Several campaigns, or all of a folder, are served together, each at the path of its folder. Tasks are created first
    if there are none. Stop with Ctrl-C; the next start continues the campaigns.
    """
    from adjudge.server.serve import Address, find_campaigns
    from adjudge.server.serve import serve as serve_campaigns
    from adjudge.shell.panels import statistics_of

    places, links = find_campaigns(settings.campaigns), settings.links
    address = Address(settings.host, settings.port, settings.url)
    # If the output is not a terminal, printed links could stay in a log file for months.
    if links is None and not json and not sys.stdout.isatty():
        first = settings.campaigns[0]
        links = first / "links.tsv" if first.is_dir() else first.with_suffix(".links.tsv")

    def ready(opened: list[Opened]) -> None:
        if json:
            _show_json(opened, address.base)
        else:
            _show(opened, address.base, links_file=links)

    serve_campaigns(
        places,
        address=address,
        tasks_file=settings.tasks,
        database=settings.database,
        workers=settings.workers,
        new_links=settings.new_links,
        statistics_of=statistics_of,
        ready=ready,
        links_file=links,
    )


def _show_json(opened: list[Opened], base: str) -> None:
    """Print one line with addresses and names, which programs that start the server wait for."""
    from adjudge.server.preparation import OVERVIEW, address

    shown: list[dict[str, str | None]] = [
        {
            "role": link.role,
            "name": link.name,
            "campaign": campaign.tasks.campaign,
            "link": address(link.secret, campaign.base),
        }
        for campaign in opened
        for link in campaign.links
        if link.role != OVERVIEW
    ]
    if shared := _shared_link(opened):
        shown.append({"role": OVERVIEW, "name": shared.name, "campaign": None, "link": address(shared.secret, base)})
    addresses = [{"name": campaign.tasks.campaign, "url": campaign.base} for campaign in opened]
    print(json_module.dumps({"url": base, "campaigns": addresses, "links": shown}), flush=True)


def _shared_link(opened: list[Opened]) -> NewLink | None:
    """The link of the organisers of all campaigns, where there are several."""
    from adjudge.server.preparation import OVERVIEW

    return next((link for link in opened[0].links if link.role == OVERVIEW), None)


def _show(opened: list[Opened], base: str, *, links_file: Path | None) -> None:
    from adjudge.server.preparation import OVERVIEW, address

    new = [link for campaign in opened for link in campaign.links]
    for campaign in opened:
        tasks = campaign.tasks
        people = _count(len(tasks.annotators), "annotator") if tasks.annotators else "whoever comes"
        print(f"{tasks.campaign}: {_count(len(tasks.tasks), 'task')} for {people} at {campaign.base}")
        for link in campaign.links if links_file is None else ():
            if link.role != OVERVIEW:
                name = link.role if link.role != "annotator" else link.name
                print(f"  {name:<14} {address(link.secret, campaign.base)}")
    if links_file is not None:
        shown = {link.secret for link in new}
        print(f"  {_count(len(shown), 'new link')} added to {links_file}, which only you can read.")
    elif shared := _shared_link(opened):
        print(f"Organisers of all campaigns: {address(shared.secret, base)}")
    if not any(link.role in ("annotator", "crowd") for link in new):
        print("  The annotators' existing links stay valid. To replace them, use --new-links or the organisers' page.")
    print("Links are shown only once; the server stores only their hashes. Stop with Ctrl-C.", flush=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {agreeing(number, noun, f'{noun}s')}"
