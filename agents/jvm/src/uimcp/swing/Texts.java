package uimcp.swing;

import java.awt.Component;
import java.util.ArrayList;
import java.util.List;
import javax.accessibility.AccessibleContext;
import javax.swing.AbstractButton;
import javax.swing.ImageIcon;
import javax.swing.JCheckBox;
import javax.swing.JCheckBoxMenuItem;
import javax.swing.JComboBox;
import javax.swing.JComponent;
import javax.swing.JInternalFrame;
import javax.swing.JLabel;
import javax.swing.JPasswordField;
import javax.swing.JProgressBar;
import javax.swing.JSlider;
import javax.swing.JSpinner;
import javax.swing.JToggleButton;
import javax.swing.text.JTextComponent;
import uimcp.core.Contract.RecordField;
import uimcp.core.RecordFields;

/** Writes a component's state and texts into a record, as a person perceives them. */
final class Texts {
    private Texts() {}

    static void states(Component component, RecordFields record, boolean focus) {
        List<String> states = new ArrayList<>(2);
        if (!component.isEnabled()) {
            states.add("disabled");
        }
        if (focus) {
            states.add("focused");
        }
        if (component instanceof JToggleButton && ((JToggleButton) component).isSelected()) {
            states.add("selected");
        }
        if (!states.isEmpty()) {
            record.put(RecordField.PSEUDO_CLASS, states);
        }
    }

    static void content(Component component, RecordFields record) {
        if (component instanceof JPasswordField) {
            record.text(RecordField.LABEL, named(component));
            record.put(RecordField.MASKED, true);
        } else if (component instanceof JTextComponent) {
            record.text(RecordField.LABEL, named(component));
            record.text(RecordField.PROMPT, prompt((JTextComponent) component));
            record.value(RecordField.VALUE_TEXT, ((JTextComponent) component).getText());
        } else if (component instanceof AbstractButton) {
            button((AbstractButton) component, record);
        } else if (component instanceof JLabel) {
            record.text(RecordField.LABEL, label((JLabel) component));
        } else if (component instanceof JComboBox) {
            record.text(RecordField.LABEL, named(component));
            record.text(RecordField.VALUE_TEXT, selectedText((JComboBox<?>) component));
        } else {
            values(component, record);
        }
    }

    private static void values(Component component, RecordFields record) {
        if (component instanceof JSlider) {
            record.text(RecordField.LABEL, named(component));
            record.text(RecordField.VALUE_TEXT, String.valueOf(((JSlider) component).getValue()));
        } else if (component instanceof JProgressBar) {
            record.text(RecordField.VALUE_TEXT, ((JProgressBar) component).getString());
        } else if (component instanceof JSpinner) {
            record.text(RecordField.LABEL, named(component));
            record.text(RecordField.VALUE_TEXT, String.valueOf(((JSpinner) component).getValue()));
        } else if (component instanceof JInternalFrame) {
            record.text(RecordField.LABEL, ((JInternalFrame) component).getTitle());
        } else if (!awt(component, record)) {
            record.text(RecordField.LABEL, ComponentTree.borderTitle(component));
        }
    }

    /** The heavyweight components of AWT. */
    private static boolean awt(Component component, RecordFields record) {
        if (component instanceof java.awt.Button) {
            record.text(RecordField.LABEL, ((java.awt.Button) component).getLabel());
        } else if (component instanceof java.awt.Label) {
            record.text(RecordField.LABEL, ((java.awt.Label) component).getText());
        } else if (component instanceof java.awt.TextComponent) {
            record.value(RecordField.VALUE_TEXT, ((java.awt.TextComponent) component).getText());
        } else if (component instanceof java.awt.Checkbox) {
            record.text(RecordField.LABEL, ((java.awt.Checkbox) component).getLabel());
            record.put(RecordField.CHECKED, ((java.awt.Checkbox) component).getState());
        } else if (component instanceof java.awt.Choice) {
            record.text(RecordField.VALUE_TEXT, ((java.awt.Choice) component).getSelectedItem());
        } else {
            return false;
        }
        return true;
    }

    private static void button(AbstractButton button, RecordFields record) {
        String text = plain(button.getText());
        String icon = button.getIcon() instanceof ImageIcon ? ((ImageIcon) button.getIcon()).getDescription() : null;
        record.text(RecordField.LABEL, !text.isEmpty() ? text : named(button) != null ? named(button) : fileName(icon));
        if (button instanceof JCheckBox || button instanceof JCheckBoxMenuItem) {
            record.put(RecordField.CHECKED, button.isSelected());
        } else if (button instanceof JToggleButton || button instanceof javax.swing.JRadioButtonMenuItem) {
            record.put(RecordField.SELECTED, button.isSelected());
        }
    }

    private static String label(JLabel label) {
        String text = plain(label.getText());
        return text.isEmpty() ? label.getToolTipText() : text;
    }

    /** Return the name for assistive technology, which includes that of a JLabel for this field, else the tooltip. */
    static String named(Component component) {
        AccessibleContext accessible = component.getAccessibleContext();
        String name = accessible == null ? null : accessible.getAccessibleName();
        String tooltip = component instanceof JComponent ? ((JComponent) component).getToolTipText() : null;
        return name != null && !name.isEmpty() ? plain(name) : tooltip == null || tooltip.isEmpty() ? null : plain(tooltip);
    }

    private static String prompt(JTextComponent field) {
        Object prompt = field.getClientProperty("JTextField.placeholderText");
        return prompt == null ? null : prompt.toString();
    }

    private static String selectedText(JComboBox<?> box) {
        Object item = box.getSelectedItem();
        return item == null ? null : rendered(box, item);
    }

    @SuppressWarnings("unchecked")
    static String rendered(JComboBox<?> box, Object item) {
        var renderer = (javax.swing.ListCellRenderer<Object>) box.getRenderer();
        return SwingRows.shown(renderer.getListCellRendererComponent(new javax.swing.JList<>(), item, -1, false, false), item);
    }

    private static String fileName(String path) {
        return path == null ? null : path.substring(path.lastIndexOf('/') + 1);
    }

    /** Return a text without the tags of HTML, which Swing's labels may hold. */
    static String plain(String text) {
        if (text == null) {
            return "";
        }
        boolean html = text.length() > 5 && text.substring(0, 6).equalsIgnoreCase("<html>");
        return html ? text.replaceAll("(?s)<[^>]*>", " ").replace("&nbsp;", " ").replace("&amp;", "&").replaceAll("\\s+", " ").trim() : text;
    }
}
