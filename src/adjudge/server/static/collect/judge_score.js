// @ts-check
/** The page for judging, as it is loaded for single translations with scores. */
import { scoreItem } from "./screen/single.js";
import { begin } from "./work.js";

void begin({ item: scoreItem });
