// @ts-check
/** The page for judging, as it is loaded for post-editing. */
import { editItem } from "./screen/edit.js";
import { begin } from "./work.js";

void begin({ item: editItem });
