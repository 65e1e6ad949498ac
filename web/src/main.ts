/** Starts the page. */
import { openGate } from "./conserve/gate";

openGate("1").register();
