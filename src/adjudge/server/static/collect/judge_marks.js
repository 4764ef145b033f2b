// @ts-check
/** The page for judging, as it is loaded for single translations in which errors are marked. */
import { Marking } from "./marking/marking.js";
import { scoreItem } from "./screen/single.js";
import { begin } from "./work.js";

void begin({ item: scoreItem, mark: (...given) => new Marking(...given) });
