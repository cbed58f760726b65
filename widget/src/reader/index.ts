// The reader page's own script: nothing here is needed to read; it spares reloads and waiting.
import { followContents } from "./contents";
import { offerCopy } from "./copy";
import { dockWidget } from "./dock";
import { findWhileTyping } from "./find";
import { showMark, turnWithoutReload } from "./turn";

dockWidget();
followContents();
findWhileTyping();
turnWithoutReload(() => {
  followContents();
  offerCopy();
});
offerCopy();
showMark();
