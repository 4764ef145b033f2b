// @ts-check
/** The page for judging, as it is loaded for translations side by side, and scores of whole documents, with or without marks. */
import { Marking } from "./marking/marking.js";
import { comparedItem, wholePage } from "./screen/compared.js";
import { begin } from "./work.js";

void begin({ item: comparedItem, whole: wholePage, mark: (...given) => new Marking(...given) });
