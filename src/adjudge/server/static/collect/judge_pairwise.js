// @ts-check
/** The page for judging, as it is loaded for pairs. */
import { pairItem } from "./screen/pair.js";
import { begin } from "./work.js";

void begin({ item: pairItem });
