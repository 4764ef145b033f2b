"""Each page loads one script and one style sheet, put together from small sources; what cannot be is refused."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adjudge.server.database import set_up_models
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server
from tests.helpers.warm_command import PATIENCE

set_up_models()  # the bundles stand beside the views, which need Django

from adjudge.server import pages  # noqa: E402
from adjudge.server.pages import (  # noqa: E402
    SHEETS,
    PageFileError,
    bundle_script,
    bundle_styles,
    page_files,
    static_prefix,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed; install Debian's nodejs")


def put(folder: Path, **sources: str) -> Path:
    """Modules in a folder: `in_x` is `in/x.js`."""
    for name, source in sources.items():
        file = folder / f"{name.replace('_', '/')}.js"
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)
    return folder


def test_a_module_stands_after_what_it_imports(tmp_path: Path) -> None:
    put(
        tmp_path,
        page='// @ts-check\nimport {\n  a,\n  b,\n} from "./in/x.js";\nimport { d } from "./in/y.js";\nsay(a, b, d);\n',
        in_x='import { d } from "./y.js";\nexport const a = d;\nexport async function b() {\n  await a;\n}\n',
        in_y='/** @type {import("./x.js").T} */\nexport class d {}\n',
    )
    assert bundle_script("page.js", tmp_path).first.strip().splitlines() == [
        "class d{}",
        "const a=d;async function b(){await a;}",
        "say(a,b,d);",
    ]


@pytest.mark.browser
def test_no_name_of_a_script_is_one_of_the_browser(page: Page) -> None:
    """In one scope, `open` of one module would be meant where another one opens a window."""
    names = {name for script in SHEETS for name in pages.names_of_script(f"{script}.js")}
    assert len(names) > 300
    assert page.evaluate("names => names.filter((name) => name in window)", sorted(names)) == []


@needs_node
def test_a_script_does_what_its_modules_do(tmp_path: Path) -> None:
    """Each module runs once, in the order of their imports."""
    put(
        tmp_path,
        page='import { first } from "./x.js";\nimport { next } from "./y.js";\nconst own = 3;\n'
        "console.log(first(), next(), own, typeof missing, this);\n",
        x='import { next } from "./y.js";\nconst mine = "x";\nconsole.log("x runs");\n'
        "export function first() {\n  return mine + next();\n}\n",
        y='export const COUNT = counted();\nlet last = COUNT;\nconsole.log("y runs");\nconst step = 1;\n'
        "export function next() {\n  return (last += step);\n}\nfunction counted() {\n  return 4;\n}\n",
    )
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "one.mjs").write_text(bundle_script("page.js", tmp_path).first)
    said = {name: run_node(tmp_path / name) for name in ("page.js", "one.mjs")}
    assert said["one.mjs"] == said["page.js"] == "y runs\nx runs\nx5 6 3 undefined undefined\n"


@needs_node
def test_what_is_imported_by_a_call_is_a_file_apart_that_shares_the_modules_of_the_first(tmp_path: Path) -> None:
    """Both are modules of the browser, so that Node runs them: state is shared, and what is loaded once runs once."""
    put(
        tmp_path,
        page='import { add } from "./x.js";\nimport { start } from "./in/z.js";\nadd("page");\nvoid start();\n',
        x="const all = [];\nexport function add(name) {\n  all.push(name);\n  return all.join();\n}\n",
        in_y='import { add } from "../x.js";\nimport { more } from "./only.js";\nadd("y runs");\n'
        'export async function say() {\n  const { add: same } = await import("../x.js");\n'
        "  console.log(same(more), add === same);\n}\n",
        in_only='export const more = "only";\n',
        in_z='import { add } from "../x.js";\nexport async function start() {\n  add("z");\n'
        '  const loaded = await import("./y.js");\n  await loaded.say();\n  (await import("./y.js")).say();\n}\n',
    )
    script = bundle_script("page.js", tmp_path)
    assert "only" not in script.first
    assert "const all" not in script.later
    (tmp_path / "package.json").write_text('{"type": "module"}')
    expected = run_node(tmp_path / "page.js")
    (tmp_path / "page.js").write_text(script.first)
    (tmp_path / "page.later.js").write_text(script.later)
    assert run_node(tmp_path / "page.js") == expected == "page,z,y runs,only true\npage,z,y runs,only,only true\n"


def run_node(*arguments: object) -> str:
    return subprocess.run(
        ["node", *map(str, arguments)], check=True, capture_output=True, text=True, timeout=PATIENCE
    ).stdout


@pytest.mark.parametrize(
    "source",
    [
        'import x from "./x.js";',
        'import * as x from "./x.js";',
        'import "./x.js";',
        "import { a } from './x.js';",
        'import { a } from "elsewhere";',
        'import { a } from "https://elsewhere.example/x.js";',
        'import { a } from "./x.js"; // why',
        'import { a } from "./x.js"; import { b } from "./x.js";',
        'import data from "./x.json" with { type: "json" };',
        'const x = await import("./x.js");',
        'function f() {\n  return import ("./x.js");\n}',
        "const here = import.meta.url;",
        "export let a = 1;",
        "export var a = 1;",
        "export const { a } = {};",
        "export default function f() {}",
        "export function* f() {}",
        "export { a };",
        'export { a } from "./x.js";',
        'export * from "./x.js";',
        "  export const a = 1;",
        "await f();",
        "const a = await f();",
        "for await (const a of f()) g(a);",
        "const $later = 1;",
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(source: str, tmp_path: Path) -> None:
    put(tmp_path, page=f"// first\n/** import(1) */\n{source}\n", x="export const a = 1;\nexport const b = 1;\n")
    with pytest.raises(
        PageFileError, match=r"^page\.js, line [34]: '.+' is not understood; modules import \{ names \}"
    ):
        bundle_script("page.js", tmp_path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('import { c } from "./x.js";', "page.js: 'c' is not exported by ./x.js"),
        ('import { a b } from "./x.js";', "page.js: 'a b' is not exported by ./x.js"),
        ('import { a as d } from "./x.js";', "page.js: 'a as d' is not exported by ./x.js"),
        (
            'import { a } from "./x.js";\nconst c = 1;',
            "page.js: 'c' is a name of x.js, too; call one of them otherwise",
        ),
        ('import { a } from "./gone.js";', "gone.js: there is no such module, imported by page.js"),
        ('import { a } from "../page.js";', "../page.js: there is no such module, imported by page.js"),
        ('f();\nimport { a } from "./x.js";', "page.js: an import stands below other code; imports come first"),
        ('import { d } from "./y.js";', "modules import each other in a circle: page.js -> y.js -> z.js -> y.js"),
    ],
)
def test_what_cannot_be_found_or_ordered_is_refused(source: str, message: str, tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        page=f"{source}\n",
        x="export const a = 1;\nconst c = 2;\n",
        y='import { e } from "./z.js";\nexport const d = 1;\n',
        z='import { d } from "./y.js";\nexport const e = 1;\n',
    )
    with pytest.raises(PageFileError, match=f"^{re.escape(message)}$"):
        bundle_script("page.js", folder)


@pytest.mark.parametrize("rule", ['@import "x.css";', '@charset "utf-8";', "a { background: url(x.svg); }"])
def test_a_rule_that_depends_on_its_file_is_refused(rule: str, tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "x.css").write_text(f"b {{ color: red; }}\n{rule}\n")
    with pytest.raises(PageFileError, match=r"^styles/x\.css: '.+' does not work in sheets that are put together$"):
        bundle_styles(("x",), tmp_path)


TYPESCRIPT = """
const ts = require(process.argv[2] + "/lib/typescript.js");
const options = { removeComments: true, target: "esnext", module: "esnext" };
for (const file of process.argv.slice(3)) {
  const source = require("fs").readFileSync(file, "utf8");
  const printed = ts.transpileModule(source, { compilerOptions: options }).outputText;
  console.log(JSON.stringify(printed.replace(/\\s+/g, " ")));
}
"""


@needs_node
@pytest.mark.skipif(shutil.which("tsc") is None, reason="tsc is not installed; install Debian's node-typescript")
@pytest.mark.parametrize("page", SHEETS)
def test_a_shortened_script_is_the_same_program(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TypeScript parses both and prints them alike, strings and expressions included."""
    short = bundle_script(f"{page}.js")
    monkeypatch.setattr(pages, "shorten_script", str)
    long = bundle_script(f"{page}.js")
    (tmp_path / "print.cjs").write_text(TYPESCRIPT)
    typescript = Path(str(shutil.which("tsc"))).resolve().parent.parent
    scripts = {"short": short.first, "long": long.first, "short_later": short.later, "long_later": long.later}
    for name, script in scripts.items():
        (tmp_path / f"{name}.js").write_text(script)
    printed = run_node(tmp_path / "print.cjs", typescript, *(tmp_path / f"{name}.js" for name in scripts)).splitlines()
    assert printed[0] == printed[1]
    assert printed[2] == printed[3]
    assert len(printed[0]) > 1000


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("a = 1; // one\n/* two */ b = 2;\n", "a=1;b=2;"),
        ("s = 'a // b' + \"/* c */\"  +  `d\n   // e`;", "s='a // b' + \"/* c */\" + `d\n   // e`;"),
        ('r = s.replace(/["/]  /g, x);', 'r=s.replace(/["/]  /g,x);'),
        ("a + +b - -c / d / e", "a + +b - -c / d / e"),
        ("a()\n  b()", "a()\nb()"),
    ],
)
def test_literals_stay_and_comments_go(written: str, sent: str) -> None:
    assert pages.shorten_script(written) == sent


def test_sheets_lose_comments_and_keep_strings(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "x.css").write_text(
        '/* why */\na > b {\n  content: "a,  /* b */ { c";\n  margin: 0 1em;\n}\n'
    )
    assert bundle_styles(("x",), tmp_path).strip() == 'a > b{content:"a,  /* b */ { c";margin:0 1em;}'


@needs_node
@pytest.mark.parametrize("name", [name for name in page_files() if name.endswith(".js")])
def test_the_script_of_every_page_is_valid(name: str, tmp_path: Path) -> None:
    file = tmp_path / "page.mjs"
    file.write_bytes(gzip.decompress(page_files()[name].zipped))
    run_node("--check", file)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(make_campaign(tmp_path_factory.mktemp("files"))) as running:
        yield running


def ask(server: Server, name: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = server.client().connection
    connection.request(method, name, headers=headers)
    response = connection.getresponse()
    return response, response.read()


@pytest.mark.parametrize("name", list(page_files()))
def test_a_file_is_sent_compressed_or_not_and_kept_for_ever(name: str, server: Server) -> None:
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json"}
    address = static_prefix() + name
    plain, content = ask(server, address)
    assert content == gzip.decompress(page_files()[name].zipped)
    assert plain.headers["Content-Encoding"] is None
    zipped, packed = ask(server, address, **{"Accept-Encoding": "br, gzip;q=0.8"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == content
    refusing, same = ask(server, address, **{"Accept-Encoding": "gzip;q=0, identity"})
    assert (refusing.headers["Content-Encoding"], same) == (None, content)
    head, nothing = ask(server, address, "HEAD")
    assert (head.headers["Content-Length"], nothing) == (str(len(content)), b"")
    for answer in (plain, zipped, refusing, head):
        assert answer.status == 200
        assert answer.headers["Content-Type"] == kinds.get(name.rpartition(".")[2], "image/svg+xml")
        assert answer.headers["Cache-Control"] == "max-age=31536000, public, immutable"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["Set-Cookie"] is None


def test_nothing_else_is_sent(server: Server) -> None:
    prefix = static_prefix()
    for name in ("shared/dom.js", "styles/base.css", "../pages.py", "%2e%2e/pages.py", "", "texts/", "x.js"):
        assert ask(server, prefix + name)[0].status == 404
    former, _ = ask(server, "/static/000000000000/judge_score.js")
    assert (former.status, former.headers["Cache-Control"]) == (404, "no-store")
    assert ask(server, prefix + "judge_score.js", "POST")[0].status in (403, 405)


# The make_campaign of the tests asks for scores; whoever enters never sees the texts of the page that takes links.
NEEDED = {
    "/enter": ["enter.js"],
    "/work": ["judge_score.js", "judge_score.css", "texts/judge_score.en.json"],
    "/organise": ["organise.js", "organise.css", "texts/organise.en.json"],
}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "path", "shown"), [("anna", "/work", "dialog[open]"), ("organiser", "/organise", "tr")]
)
def test_a_page_loads_a_handful_of_files(name: str, path: str, shown: str, page: Page, server: Server) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url.removeprefix(server.url)))
    page.goto(server.links[name])
    page.locator(shown).first.wait_for()
    loaded = [name for name in loaded if pages.LATER not in name]
    at = loaded.index(path)
    for first, files in (("/enter", loaded[:at]), (path, loaded[at:])):
        # The icon is asked for by browsers with windows.
        static = {file for file in files if file.startswith("/static/") and not file.endswith("icon.svg")}
        names = NEEDED[first]
        assert files[0].partition("#")[0] == first
        assert static == {static_prefix() + file for file in names}


def test_every_text_is_sent_to_the_pages_that_show_it() -> None:
    """Each text is in the catalogue of some page, in all languages, and none is sent twice to the same page."""
    catalogues = {
        name.removeprefix("texts/").removesuffix(".json"): json.loads(gzip.decompress(file.zipped))
        for name, file in page_files().items()
        if name.startswith("texts/")
    }
    for language in pages.languages():
        mine = {
            name.removesuffix(f".{language}"): texts
            for name, texts in catalogues.items()
            if name.endswith(f".{language}")
        }
        assert set().union(*mine.values()) | {"name"} == pages.read_texts(language).keys() | {"name"}
        for part, texts in mine.items():
            if part.endswith(pages.LATER):
                assert texts.keys() & mine[part.removesuffix(pages.LATER)].keys() == {"direction"}
