/** No name in the page's scripts hides one of the code around it: such a slip once marked every item as the current one. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPTS = fileURLToPath(new URL("../../src/adjudge/server/static/collect/", import.meta.url));
const ts = compiler();

/** The compiler that `tsc` runs, wherever it is installed. */
function compiler() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    try {
      return createRequire(realpathSync(join(folder, "tsc")))("../lib/typescript.js");
    } catch {
      // Not in this folder.
    }
  }
  throw new Error("there is no tsc: run scripts/test-services");
}

/** The names that a pattern binds: `a`, `{ a, b: [c] }`. */
function bound(name) {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.filter(ts.isBindingElement).flatMap((element) => bound(element.name));
}

/** The names that a statement or a parameter brings into the scope it stands in. */
function declared(node) {
  if (ts.isVariableStatement(node)) return declared(node.declarationList);
  if (ts.isVariableDeclarationList(node)) return node.declarations.flatMap(({ name }) => bound(name));
  if (ts.isVariableDeclaration(node) || ts.isParameter(node)) return bound(node.name);
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) return node.name ? [node.name] : [];
  if (!ts.isImportDeclaration(node)) return [];
  const { name, namedBindings: named } = node.importClause ?? {};
  const names = named && (ts.isNamespaceImport(named) ? [named.name] : named.elements.map((element) => element.name));
  return [name, ...(names ?? [])].filter(Boolean);
}

/** The names of the scope that a node opens. */
function namesIn(node) {
  if (ts.isSourceFile(node) || ts.isBlock(node)) return node.statements.flatMap(declared);
  if (ts.isCaseBlock(node)) return node.clauses.flatMap(({ statements }) => statements.flatMap(declared));
  if (ts.isCatchClause(node)) return node.variableDeclaration ? declared(node.variableDeclaration) : [];
  if (ts.isForStatement(node) || ts.isForOfStatement(node) || ts.isForInStatement(node))
    return node.initializer && ts.isVariableDeclarationList(node.initializer) ? declared(node.initializer) : [];
  if (!ts.isFunctionLike(node) || !node.body) return [];
  return [...(ts.isFunctionExpression(node) && node.name ? [node.name] : []), ...node.parameters.flatMap(declared)];
}

/** Every name that hides one further out, with its line. */
function shadows(text) {
  const source = ts.createSourceFile("script.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found = [];
  const visit = (node, outer) => {
    const names = namesIn(node);
    for (const name of names) {
      if (outer.has(name.text)) found.push(`${name.text}:${source.getLineAndCharacterOfPosition(name.getStart()).line + 1}`);
    }
    const inner = new Set([...outer, ...names.map((name) => name.text)]);
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(source, new Set());
  return found;
}

test("a name that hides another is found, and names side by side are not", () => {
  assert.deepEqual(shadows("const a = 1;\nconst f = ({ a }) => a;"), ["a:2"]);
  assert.deepEqual(shadows("import { b } from 'x';\nfor (let b = 0; b; b += 1) {}"), ["b:2"]);
  assert.deepEqual(shadows("class C { m(c) {\ntry {} catch (c) {} } }\nfunction g([d]) { { const d = 1; } }"), ["c:2", "d:3"]);
  assert.deepEqual(shadows("const f = (e) => e;\nconst g = (e) => { const h = e; };\nconst { e: k } = {};"), []);
});

for (const file of readdirSync(SCRIPTS, { recursive: true }).filter((name) => name.endsWith(".js"))) {
  test(`${file} hides no name`, () => assert.deepEqual(shadows(readFileSync(join(SCRIPTS, file), "utf-8")), []));
}
