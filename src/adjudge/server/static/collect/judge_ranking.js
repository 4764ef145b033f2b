// @ts-check
/** The page for judging, as it is loaded for rankings. */
import { rankingItem } from "./screen/rank.js";
import { begin } from "./work.js";

void begin({ item: rankingItem });
