"""A new campaign folder from nothing: a commented campaign file with texts, designed once to show that it works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from adjudge.campaigns.campaign_file import MOST_SIDE_BY_SIDE, Campaign, is_one_line, load_campaign, named_annotators
from adjudge.campaigns.design import design
from adjudge.campaigns.other_tools import read_other_tool, write_texts
from adjudge.campaigns.results import Initialised, NewFile
from adjudge.campaigns.texts import read_texts
from adjudge.table.errors import DataError, InputError, UsageError, param
from adjudge.table.files import atomic_path, exists, write_text
from adjudge.table.languages import find_pair
from adjudge.table.protocols import PROTOCOLS, CollectedProtocol
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.campaigns.tasks import TaskSet


# The text of a new campaign file, with what its keys mean beside them.

MOST_ITEMS, LEAST_ITEMS = 100, 6
"""Items of a task where there are enough: about an hour of scores."""
_MEANINGS = {
    "ranking": "several translations of a segment are put into order",
    "da": "every translation gets a score from 0 to 100",
    "pairwise": "two translations of a segment are compared",
    "sqm": "every translation gets a score from 0 to 6",
    "esa": "errors are marked, then every segment gets a score",
    "mqm": "errors are marked with their kind and severity",
    "postedit": "every translation is corrected",
    "acceptability": "every translation is acceptable, or it is not",
}


@dataclass(frozen=True)
class Plan:
    """What the campaign file is to say."""

    name: str
    protocol: CollectedProtocol
    source_lang: str
    target_lang: str
    source: str
    systems: Mapping[str, str]
    references: Mapping[str, str]
    annotators: int | tuple[str, ...]
    task_size: int = MOST_ITEMS
    outputs: int = 1
    """Outputs side by side, where scores are given."""
    controls: tuple[int, int] | None = None
    """Degraded copies and repeats per task; None where the texts are too few for them."""


def make_campaign_text(plan: Plan) -> str:
    """The campaign file, with what its keys mean beside them."""
    given, people = plan.annotators, named_annotators(plan.annotators)
    named = given if isinstance(given, int) else f"[{', '.join(map(_quote, given))}]"
    parts = [
        f"""\
# A campaign of adjudge. Its documentation explains every key (docs/design.md); what follows a # has no effect.
name = {_quote(plan.name)}
protocol = "{plan.protocol}"{_remark(_MEANINGS[plan.protocol])}
seed = 1{_remark("the same seed and texts give the same tasks")}

[languages]
source = {_quote(plan.source_lang)}
target = {_quote(plan.target_lang)}

[files]{_remark("one segment per line, a blank line between documents")}
source = {_quote(plan.source)}

[files.systems]{_remark("their translations of the same lines")}
""",
        *map(_name_file, plan.systems.items()),
        f"""
{"" if plan.references else "# "}[files.references]{_remark("human translations, for controls and comparisons")}
""",
        *(map(_name_file, plan.references.items()) if plan.references else ('# refA = "refA.txt"\n',)),
        f"""
[design]
task_size = {plan.task_size}{_remark("items of one task, controls included")}
{_side_by_side(plan)}annotators = {named}{_remark('how many, or their names: ["Marie", "Jean"]')}
judgments = {min(2, len(people))}{_remark("so many different people judge each item")}
""",
        f"\n[context]\nmax_segments = 10{_remark('longer documents are cut into pages of about this length')}\n"
        if PROTOCOLS[plan.protocol].in_text
        else "",
        _make_controls_part(plan),
        f"""
[assignment]
policy = "fixed"{_remark('"pool": tasks are not planned for people, whoever is free takes the next one')}

# [page]
# comments = true{_remark("people can write a comment on each translation")}

# [instructions]{_remark("what people read first; without it, the protocol's own (see: adjudge design --instructions)")}
# en = {{ file = "instructions.en.md", short = "Read the whole text before you judge it." }}
""",
    ]
    return "".join(parts)


def _side_by_side(plan: Plan) -> str:
    protocol = PROTOCOLS[plan.protocol]
    if protocol.relative or protocol.edited:
        return ""
    off, outputs = ("# ", 3) if plan.outputs == 1 else ("", plan.outputs)
    return f"{off}outputs = {outputs}{_remark('so many translations side by side on a screen, each with its score')}\n"


def _make_controls_part(plan: Plan) -> str:
    degraded, repeats = plan.controls or (10, 5)
    off = "" if plan.controls else "# "
    too_few = "" if plan.controls else "; the texts are too few for any so far"
    return (
        f"\n{off}[controls]{_remark(f'items of each task that check the people{too_few}')}\n"
        f"{off}degraded = {degraded}{_remark('copies made worse on purpose, which careful people notice')}\n"
        f"{off}repeats = {repeats}{_remark('items shown again, half a task later')}\n"
    )


def _remark(text: str) -> str:
    return f"  # {text}"


def _name_file(named: tuple[str, str]) -> str:
    name, file = named
    return f"{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else _quote(name)} = {_quote(file)}\n"


def _quote(text: str) -> str:
    """A text as TOML writes it; the escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


CAMPAIGN_FILE = "campaign.toml"
EXAMPLE_PAIR = "en-de"
# Source, and three made-up systems from good to poor; a blank line lies between the documents.
_EXAMPLE = """\
The library opens at nine.|Die Bibliothek öffnet um neun.|Die Bibliothek macht um neun Uhr auf.|Die Bücherei offen neun.
Please return books within four weeks.|Bitte geben Sie Bücher innerhalb von vier Wochen zurück.\
|Bitte bringen Sie die Bücher in vier Wochen wieder.|Bitte Rückkehr Bücher mit vier Wochen.
Children may borrow games as well.|Kinder können auch Spiele ausleihen.|Kinder dürfen Spiele auch leihen.\
|Kinder mögen auch das Wild leihen.
The reading room is on the second floor.|Der Lesesaal ist im zweiten Stock.|Der Leseraum liegt auf der zweiten Etage.\
|Das Lesen Zimmer ist auf dem zweiten Boden.

Our garden needs volunteers in spring.|Unser Garten braucht im Frühling Freiwillige.\
|Unser Garten sucht Freiwillige im Frühjahr.|Unser Garten braucht Freiwilligen in Feder.
We plant trees on the first Saturday in March.|Am ersten Samstag im März pflanzen wir Bäume.\
|Wir pflanzen Bäume am ersten Samstag im März.|Wir Pflanze Bäume auf den ersten Samstag im Marsch.
Bring gloves and warm clothes.|Bringen Sie Handschuhe und warme Kleidung mit.\
|Nehmen Sie Handschuhe und warme Kleider mit.|Bringen Handschuhe und warm Tuch.
Afterwards there is soup for everybody.|Danach gibt es Suppe für alle.|Nachher bekommt jeder Suppe.\
|Nachher dort ist Suppe für jeder.
"""


def init(
    folder: Path,
    *,
    protocol: CollectedProtocol | None = None,
    pair: str | None = None,
    source: Path | None = None,
    systems: Mapping[str, Path] | Path | None = None,
    references: Mapping[str, Path] | Path | None = None,
    annotators: int | Sequence[str] | None = None,
    from_tool: Path | None = None,
) -> Initialised:
    """Make a campaign folder that can be served at once; the campaign file is written last.

    Args:
        folder: the folder; made if it does not exist. Nothing in it is overwritten.
        protocol: how people judge; default: `da`, or as the other tool's file says.
        pair: the language pair, such as `en-de`; needed with own texts.
        source: the source text; default: made-up example texts. With several language pairs, a folder.
        systems: by the system's name, its translation of the same lines; or a folder of such files, or of folders
            named like language pairs, of which each becomes a campaign.
        references: by name, human translations of the same lines, or a folder of them.
        annotators: how many people judge, or their names; default: 2, or as the other tool's file says.
        from_tool: Appraise batches or a Pearmut campaign file, whose texts are taken.
    """
    if from_tool is not None:
        if source is not None or systems is not None:
            raise UsageError(f"{param('from_tool')} has all texts; leave out {param('source')} and {param('system')}")
        return _init_from_tool(folder, from_tool, protocol, pair, annotators)
    protocol, annotators = protocol or "da", 2 if annotators is None else annotators
    languages = find_pair(pair or EXAMPLE_PAIR)
    if languages is None:
        raise UsageError(f"{param('pair')} '{pair}' is no pair of languages; write it as en-de")
    people = annotators if isinstance(annotators, int) else tuple(annotators)
    if not people or (isinstance(people, int) and people < 1):
        raise UsageError(f"{param('annotators')} is {people or 0}; at least one person must judge")
    by_pair = _folders_of_pairs(systems) if isinstance(systems, Path) else {}
    if not by_pair:
        given = _Given(source, _name_files(systems, source, references), _name_files(references))
        _check_options(given, pair)
        return _init_one(folder, protocol, languages, given, people)
    wanted = {codes: each for codes, each in by_pair.items() if pair is None or codes == languages}
    if not wanted:
        raise UsageError(f"{param('pair')} is {pair}, but {systems} holds {', '.join(map('-'.join, by_pair))}")
    made: list[Initialised] = []
    try:
        for codes, each in wanted.items():
            own = _Given(_source_of_pair(source, codes), _name_files(each), _references_of_pair(references, codes))
            _check_options(own, "-".join(codes))
            # All pairs have the name of the whole, by which the organisers' overview puts them together.
            made.append(_init_one(folder / "-".join(codes), protocol, codes, own, people, called=folder))
    except BaseException:
        for campaign in made:
            _remove(campaign)
        raise
    return _join_campaigns(folder, made)


def _init_from_tool(
    folder: Path, file: Path, protocol: CollectedProtocol | None, pair: str | None, annotators: Any
) -> Initialised:
    """A campaign of the texts of another tool's campaign."""
    found = read_other_tool(file)
    languages = found.pair if pair is None else find_pair(pair)
    if languages is None:
        raise UsageError(f"{param('pair')} is missing; the file does not say which languages its texts are in")
    people = annotators if annotators is not None else (found.annotators or 2)
    chosen: CollectedProtocol = protocol or cast("CollectedProtocol", found.protocol)
    together = 1 if PROTOCOLS[chosen].relative or PROTOCOLS[chosen].edited else found.side_by_side
    with tempfile.TemporaryDirectory(prefix="adjudge-") as scratch:
        source, systems, references = write_texts(found, Path(scratch))
        given = _Given(source, systems, references)
        count = people if isinstance(people, int) else tuple(people)
        made = _init_one(folder, chosen, languages, given, count, outputs=min(together, MOST_SIDE_BY_SIDE))
    return replace(made, notes=(*made.notes, *found.notes()))


@dataclass(frozen=True)
class _Given:
    """The texts of one language pair as the user gave them."""

    source: Path | None
    systems: dict[str, Path]
    references: dict[str, Path]


# By role and name: the name in the folder, the file, and whether it has to be copied there.
Texts = dict[tuple[str, str], tuple[str, Path, bool]]
_SOURCE = ("source", "")


def _init_one(
    folder: Path,
    protocol: CollectedProtocol,
    languages: tuple[str, str],
    given: _Given,
    people: int | tuple[str, ...],
    *,
    outputs: int = 1,
    called: Path | None = None,
) -> Initialised:
    name = "".join(letter for letter in (called or folder).resolve().name if is_one_line(letter)).strip()[:100].strip()
    with tempfile.TemporaryDirectory(prefix="adjudge-") as scratch:
        texts = _own_texts(folder, given) if given.source is not None else _example_texts(Path(scratch))
        _refuse_overwriting(folder, texts)
        plan = Plan(
            name=name or "campaign",
            protocol=protocol,
            source_lang=languages[0],
            target_lang=languages[1],
            **_places({key: shown for key, (shown, _, _) in texts.items()}),
            annotators=people,
            outputs=outputs,
        )
        plan, tasks, segments = _find_working_plan(plan, texts, Path(scratch))
        _write_folder(folder, make_campaign_text(plan), texts)
    return _make_result(folder, plan, tasks, segments, texts, example=given.source is None)


def _places(files: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Where the texts lie, as a plan has it."""
    named = {role: {name: file for (its, name), file in files.items() if its == role} for role in _ROLES}
    return {"source": files[_SOURCE], "systems": named["system"], "references": named["reference"]}


_ROLES = ("system", "reference")


def _check_options(given: _Given, pair: str | None) -> None:
    if (given.source is None) != (not given.systems):
        raise UsageError(
            f"{param('source')} and {param('system')} belong together; give the source "
            "and each system's translation of it"
        )
    if given.references and given.source is None:
        raise UsageError(f"{param('reference')} belongs to a {param('source')}; give the source as well")
    if given.source is not None and pair is None:
        raise UsageError(
            f"{param('pair')} is missing; say which languages the texts are in, such as {param('pair')} en-de"
        )
    for role in _ROLES:
        for name in getattr(given, f"{role}s"):
            if not name.strip() or not is_one_line(name) or name != name.strip():
                raise UsageError(
                    f"{param(role)} names '{name}'; a {role}'s name has no line breaks and no spaces around it"
                )


# Files in folders, and the names that they give to systems and references.


def _list_files(folder: Path) -> list[Path]:
    """The texts of a folder: no hidden files, and nothing that describes the others."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.is_file() and not file.name.startswith(".") and not file.name.casefold().startswith("readme")
    )


def _folders_of_pairs(folder: Path) -> dict[tuple[str, str], Path]:
    """The folders that are named like language pairs, by the languages' codes."""
    if not folder.is_dir():
        raise InputError("no such folder; give a folder with a file per system", file=folder)
    folders = ((find_pair(each.name), each) for each in sorted(folder.iterdir()) if each.is_dir())
    return {codes: each for codes, each in folders if codes is not None}


def _name_files(given: Mapping[str, Path] | Path | None, *others: object) -> dict[str, Path]:
    """The files by name; those of a folder are named by the parts of their names in which they differ.

    Args:
        given: the files, or their folder.
        others: files and files by name that may lie in the same folder and are something else.
    """
    if not isinstance(given, Path):
        return dict(given or {})
    if not given.is_dir():
        return {_stem(given): given}
    known = {
        file.resolve()
        for other in others
        for file in (other.values() if isinstance(other, dict) else (other,))
        if isinstance(file, Path)
    }
    files = [file for file in _list_files(given) if file.resolve() not in known]
    if not files:
        raise InputError("holds no files; give a folder with one text file per translation", file=given)
    parts = {file: _stem(file).split(".") for file in files}
    shared = set.intersection(*map(set, parts.values())) if len(files) > 1 else set()
    names = {".".join(part for part in its if part not in shared): file for file, its in parts.items()}
    return names if len(names) == len(files) and "" not in names else {_stem(file): file for file in files}


def _stem(file: Path) -> str:
    """The name of a file without its ending."""
    name = file.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _files_of_pair(folder: Path, codes: tuple[str, str]) -> dict[str, Path]:
    """The files of a language pair, `en-de.refA.txt` or `en-de/refA.txt`, by what else their names say."""
    for own in folder.iterdir():
        if own.is_dir() and find_pair(own.name) == codes:
            return _name_files(own)
    found = {}
    for file in _list_files(folder):
        parts = _stem(file).split(".")
        if any(find_pair(part) == codes for part in parts):
            found[".".join(part for part in parts if find_pair(part) != codes)] = file
    return found


def _source_of_pair(source: Path | None, codes: tuple[str, str]) -> Path:
    if source is None or not source.is_dir():
        raise UsageError(
            f"{param('source')} is {source or 'missing'}; several language pairs need a folder with a source per pair, "
            f"such as {'-'.join(codes)}.txt"
        )
    files = list(_files_of_pair(source, codes).values())
    if len(files) != 1:
        raise InputError(
            f"holds {counted(len(files), 'source')} of {'-'.join(codes)}; one file is needed, such as "
            f"{'-'.join(codes)}.txt",
            file=source,
        )
    return files[0]


def _references_of_pair(references: Mapping[str, Path] | Path | None, codes: tuple[str, str]) -> dict[str, Path]:
    if references is None:
        return {}
    if not isinstance(references, Path) or not references.is_dir():
        raise UsageError(f"{param('reference')} must be a folder, because there are several language pairs")
    return {name or "reference": file for name, file in _files_of_pair(references, codes).items()}


def _own_texts(folder: Path, given: _Given) -> Texts:
    """The given files: those that lie in the folder stay where they are, others are copied into it."""
    assert given.source is not None
    texts: Texts = {}
    taken = {CAMPAIGN_FILE}
    named = {_SOURCE: given.source}
    named |= {("system", name): file for name, file in given.systems.items()}
    named |= {("reference", name): file for name, file in given.references.items()}
    for key, file in named.items():
        if not exists(file) or not file.is_file():
            raise InputError("no such file; check the path", file=file)
        if file.resolve().is_relative_to(folder.resolve()):
            texts[key] = (file.resolve().relative_to(folder.resolve()).as_posix(), file, False)
            continue
        # What the file is follows from its ending.
        ending = "".join(file.suffixes[-2:] if file.suffix == ".gz" else file.suffixes[-1:])
        stem = re.sub(r"[^\w-]+", "-", key[1] or "source").strip("-")[:80] or key[0]
        while f"{stem}{ending}".lower() in taken:
            stem += "-2"
        taken.add(f"{stem}{ending}".lower())
        texts[key] = (f"{stem}{ending}", file, True)
    return texts


def _example_texts(scratch: Path) -> Texts:
    """Made-up texts: a source and three systems."""
    columns = {_SOURCE: "source.txt", **{("system", name): f"{name}.txt" for name in ("alpha", "beta", "gamma")}}
    rows = [line.split("|") if line else [""] * len(columns) for line in _EXAMPLE.splitlines()]
    texts: Texts = {}
    for (key, file), column in zip(columns.items(), zip(*rows, strict=True), strict=True):
        path = scratch / file
        path.write_text("\n".join(column) + "\n", encoding="utf-8")
        texts[key] = (file, path, True)
    return texts


def _refuse_overwriting(folder: Path, texts: Texts) -> None:
    if exists(folder) and not folder.is_dir():
        raise InputError("is a file, a folder is needed; choose another name", file=folder)
    for name in (CAMPAIGN_FILE, *(shown for shown, _, copied in texts.values() if copied)):
        if exists(folder / name):
            raise InputError("is there already, and is not overwritten; choose another folder", file=folder / name)


def _find_working_plan(plan: Plan, texts: Texts, scratch: Path) -> tuple[Plan, TaskSet, int]:
    """The plan, with controls if the texts are enough for them, the tasks that come of it, and how many segments."""
    # With the files where they are, so that errors name them as the user does.
    trial = replace(plan, **_places({key: str(path.absolute()) for key, (_, path, _) in texts.items()}))
    testset = read_texts(_try_plan(trial, scratch))
    items = len(testset) * (1 if PROTOCOLS[plan.protocol].relative else len(plan.systems))
    most, people = min(items, round(0.85 * MOST_ITEMS)), len(named_annotators(plan.annotators))
    # Of few texts, each person gets a small task; if no page fits into it, some people get none.
    share = max(LEAST_ITEMS, -(-items * min(2, people) // people))
    sizes = [(min(MOST_ITEMS, work + sum(_checks(work))), _checks(work)) for work in (min(most, share), most)]
    for size, controls in (*sizes, (most, None)):
        try:
            campaign = _try_plan(replace(trial, task_size=size, controls=controls), scratch)
            tasks = design(campaign, testset)
        except DataError:
            if controls is None:
                raise
            continue
        return replace(plan, task_size=size, controls=controls), tasks, len(testset)
    raise AssertionError("one of both was returned, or its fault was raised")


def _checks(work: int) -> tuple[int, int]:
    """How many degraded copies and repeats suit so many items."""
    return max(1, round(0.12 * work)), max(1, round(0.06 * work))


def _try_plan(plan: Plan, scratch: Path) -> Campaign:
    file = scratch / CAMPAIGN_FILE
    write_text(file, make_campaign_text(plan))
    try:
        return load_campaign(file)
    except InputError as fault:
        # There is no such file yet, and the keys of the campaign are options here.
        raise UsageError(
            fault.args[0].replace(f"{file}: ", "").replace("design.annotators", param("annotators"))
        ) from fault


def _write_folder(folder: Path, content: str, texts: Texts) -> None:
    """Write the texts, and the campaign file last: without it there is no campaign. All is removed if one fails."""
    written: list[Path] = []
    new = not exists(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for shown, path, copied in texts.values():
            if copied:
                with atomic_path(folder / shown) as temporary:
                    shutil.copyfile(path, temporary)
                written.append(folder / shown)
        write_text(folder / CAMPAIGN_FILE, content)
    except BaseException as fault:
        for file in written:
            file.unlink(missing_ok=True)
        if new and exists(folder):
            folder.rmdir()
        if isinstance(fault, OSError):
            raise InputError(f"cannot be made ({fault.strerror}); choose another folder", file=folder) from fault
        raise


_WHAT = {"system": "translation by", "reference": "reference"}


def _make_result(
    folder: Path, plan: Plan, tasks: TaskSet, segments: int, texts: Texts, *, example: bool
) -> Initialised:
    file = shlex.quote(str(folder / CAMPAIGN_FILE))
    notes = [] if plan.controls else ["the texts are too few for controls; add them to the campaign file with more"]
    pair, held = f"{plan.source_lang}-{plan.target_lang}", f"source, {counted(segments, 'segment')}"
    if example:
        notes.append(f"the texts are made-up examples (English and German); replace them by your own for {pair}")
    return Initialised(
        settings={"protocol": plan.protocol, "pair": pair, "annotators": len(tasks.annotators)},
        data=tasks.fingerprint,
        notes=tuple(notes),
        campaign=plan.name,
        protocol=plan.protocol,
        pair=pair,
        folder=str(folder),
        campaign_file=str(folder / CAMPAIGN_FILE),
        files=(
            NewFile(CAMPAIGN_FILE, "what is judged, by whom and how; change it as you like before people judge"),
            *(
                NewFile(shown, held if key == _SOURCE else f"{_WHAT[key[0]]} {key[1]}", copied)
                for key, (shown, _, copied) in texts.items()
            ),
        ),
        systems=tuple(plan.systems),
        segments=segments,
        tasks=len(tasks.tasks),
        annotators=len(tasks.annotators),
        example=example,
        next=(
            f"adjudge design {file}",
            f"adjudge serve {file}",
            f"adjudge export {file} -o {shlex.quote(str(folder / 'judgments.parquet'))}",
        ),
    )  # fmt: skip


def _remove(made: Initialised) -> None:
    """Take a new campaign away again, because another of the same call failed."""
    folder = Path(made.folder)
    for file in made.files:
        if file.written:
            (folder / file.file).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _join_campaigns(folder: Path, made: Sequence[Initialised]) -> Initialised:
    """One result for the campaigns of several language pairs, which one server shows together."""
    shown = shlex.quote(str(folder))
    exports = (each.next[2] for each in made)
    return replace(
        made[0],
        data="",
        settings={**made[0].settings, "pair": ",".join(each.pair for each in made)},
        notes=tuple(f"{each.pair}: {note}" for each in made for note in each.notes),
        campaign=folder.resolve().name,
        pair=", ".join(each.pair for each in made),
        folder=str(folder),
        campaign_file=str(folder),
        files=tuple(replace(file, file=f"{each.pair}/{file.file}") for each in made for file in each.files),
        systems=tuple(dict.fromkeys(system for each in made for system in each.systems)),
        segments=sum(each.segments for each in made),
        tasks=sum(each.tasks for each in made),
        next=(*(each.next[0] for each in made), f"adjudge serve {shown}", *exports),
    )
