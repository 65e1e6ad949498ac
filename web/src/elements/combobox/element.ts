/** `ui-combobox`: chooses one or several of many by typing a part of it. */
import { Choice } from "../choice";

class UiCombobox extends Choice {}

customElements.define("ui-combobox", UiCombobox);
