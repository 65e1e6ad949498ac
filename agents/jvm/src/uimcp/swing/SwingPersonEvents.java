package uimcp.swing;

import java.awt.AWTEvent;
import java.awt.Component;
import java.awt.Point;
import java.awt.Toolkit;
import java.awt.event.AWTEventListener;
import java.awt.event.KeyEvent;
import java.awt.event.MouseEvent;
import java.util.List;
import java.util.Map;
import javax.swing.AbstractButton;
import javax.swing.JCheckBox;
import javax.swing.JPasswordField;
import javax.swing.JScrollBar;
import javax.swing.JSlider;
import javax.swing.JSpinner;
import javax.swing.JTextField;
import javax.swing.JTree;
import javax.swing.SwingUtilities;
import javax.swing.text.JTextComponent;
import uimcp.core.AgentException;
import uimcp.core.PersonField;
import uimcp.core.PersonWatch;

/** Tells what a person does in the windows of a Swing program; on the event dispatch thread. */
final class SwingPersonEvents implements AWTEventListener {
    /** A press that moves further than this is a drag. */
    private static final double DRAG = 8;

    private final ComponentRefs refs;
    private final PersonWatch watch;
    private final PersonField<JTextComponent> field;
    private Press press;

    /** Where a button went down, and what the UI showed then. */
    private static final class Press {
        final Component component;
        final List<String> chain;
        final Point point;
        final Point screen;
        final String before;

        Press(Component component, List<String> chain, MouseEvent event, Point point, String before) {
            this.component = component;
            this.chain = chain;
            this.point = point;
            this.screen = event.getLocationOnScreen();
            this.before = before;
        }
    }

    SwingPersonEvents(ComponentRefs refs, PersonWatch watch) throws AgentException {
        this.refs = refs;
        this.watch = watch;
        List<CssSelector> redacted = CssSelector.parse(watch.request().strings("redact"));
        field = new PersonField<>(watch, new PersonField.Fields<>() {
            @Override
            public String text(JTextComponent written) {
                return written.getText() == null ? "" : written.getText();
            }

            @Override
            public boolean secret(JTextComponent written) {
                boolean secret = written instanceof JPasswordField;
                for (Component at = written; at != null && !secret; at = at.getParent()) {
                    secret = CssSelector.matchesAny(redacted, at);
                }
                return secret;
            }

            @Override
            public List<String> chain(JTextComponent written) {
                return SwingPersonParts.chain(refs, written, null);
            }
        });
    }

    void start() {
        Toolkit.getDefaultToolkit().addAWTEventListener(this, AWTEvent.MOUSE_EVENT_MASK | AWTEvent.KEY_EVENT_MASK);
    }

    void stop() {
        Toolkit.getDefaultToolkit().removeAWTEventListener(this);
    }

    @Override
    public void eventDispatched(AWTEvent event) {
        if (!watch.listens() || !(event.getSource() instanceof Component) || SwingPersonParts.isFx(event.getSource())) {
            return;
        }
        if (event instanceof MouseEvent) {
            mouse((MouseEvent) event);
        } else if (event instanceof KeyEvent) {
            key((KeyEvent) event);
        }
    }

    private void mouse(MouseEvent event) {
        if (event.getID() == MouseEvent.MOUSE_PRESSED) {
            field.flush();
            Component source = event.getComponent();
            Component inner = SwingUtilities.getDeepestComponentAt(source, event.getX(), event.getY());
            Component at = inner == null ? source : inner;
            Point point = SwingUtilities.convertPoint(source, event.getPoint(), at);
            boolean scrolls = at instanceof JScrollBar || at.getParent() instanceof JScrollBar;
            press = scrolls ? null : new Press(at, SwingPersonParts.chain(refs, at, point), event, point, watch.before());
        } else if (event.getID() == MouseEvent.MOUSE_RELEASED && press != null) {
            Press begun = press;
            press = null;
            released(begun, event);
        }
    }

    private void released(Press begun, MouseEvent event) {
        Component valued = SwingPersonParts.above(begun.component, JSlider.class, JSpinner.class);
        boolean writes = begun.component instanceof JTextComponent;
        if (valued != null && !writes) {
            SwingUtilities.invokeLater(() -> adjusted(valued, begun.before));
        } else if (begun.screen.distance(event.getLocationOnScreen()) > DRAG) {
            dragged(begun, event);
        } else {
            field.tell(clicked(begun, event), begun.before);
        }
    }

    private void dragged(Press begun, MouseEvent event) {
        if (begun.component instanceof JTextComponent) {
            return; // a selection of text
        }
        try {
            Component onto = SwingActionability.at(event.getXOnScreen(), event.getYOnScreen()).component;
            Point point = new Point(event.getLocationOnScreen());
            SwingUtilities.convertPointFromScreen(point, onto);
            Map<String, Object> made = PersonWatch.event("drag", begun.chain);
            made.put("to", SwingPersonParts.chain(refs, onto, point));
            field.tell(made, begun.before);
        } catch (AgentException outside) {
            // Let go outside of the program's windows: nothing was dropped on anything.
        }
    }

    private void adjusted(Component component, String before) {
        Map<String, Object> made = PersonWatch.event("setText", SwingPersonParts.chain(refs, component, null));
        JTextField editor = component instanceof JSpinner && ((JSpinner) component).getEditor() instanceof JSpinner.DefaultEditor
                ? ((JSpinner.DefaultEditor) ((JSpinner) component).getEditor()).getTextField() : null;
        made.put("text", component instanceof JSlider ? String.valueOf(((JSlider) component).getValue())
                : editor == null ? String.valueOf(((JSpinner) component).getValue()) : editor.getText());
        field.tell(made, before);
    }

    private Map<String, Object> clicked(Press begun, MouseEvent event) {
        boolean plain = SwingUtilities.isLeftMouseButton(event);
        if (plain && begun.component instanceof JCheckBox) {
            return checked((JCheckBox) begun.component, begun.chain);
        }
        int branch = plain && begun.component instanceof JTree ? SwingPersonParts.handleAt((JTree) begun.component, begun.point) : -1;
        if (branch >= 0) {
            String row = refs.uid(begun.component) + ":r" + branch;
            return PersonWatch.event(((JTree) begun.component).isExpanded(branch) ? "collapse" : "expand", List.of(row));
        }
        Map<String, Object> made = PersonWatch.event(event.getClickCount() == 2 ? "doubleClick" : "click", begun.chain);
        if (!plain) {
            made.put("button", SwingUtilities.isRightMouseButton(event) ? "right" : "middle");
        }
        PersonWatch.putModifiers(made, event.isControlDown(), event.isShiftDown(), event.isAltDown() && plain, event.isMetaDown() && plain);
        return made;
    }

    private static Map<String, Object> checked(JCheckBox box, List<String> chain) {
        Map<String, Object> made = PersonWatch.event("setChecked", chain);
        made.put("checked", !box.isSelected());
        return made;
    }

    private void key(KeyEvent event) {
        Component component = event.getComponent();
        JTextComponent writes = component instanceof JTextComponent && ((JTextComponent) component).isEditable() ? (JTextComponent) component : null;
        if (event.getID() == KeyEvent.KEY_PRESSED) {
            pressed(event, component, writes);
        }
        if (writes != null) {
            field.track(writes);
            SwingUtilities.invokeLater(field::flush);
        }
    }

    private void pressed(KeyEvent event, Component component, JTextComponent writes) {
        boolean shortcut = (event.isControlDown() || event.isAltDown() || event.isMetaDown()) && Character.isLetterOrDigit(event.getKeyCode());
        if (event.getKeyCode() == KeyEvent.VK_SPACE && component instanceof AbstractButton) {
            List<String> chain = SwingPersonParts.chain(refs, component, null);
            field.tell(component instanceof JCheckBox ? checked((JCheckBox) component, chain) : PersonWatch.event("click", chain), watch.before());
        } else if (SwingPersonParts.tells(event.getKeyCode(), shortcut, writes)) {
            Map<String, Object> made = PersonWatch.event("pressKey", SwingPersonParts.chain(refs, component, null));
            made.put("key", SwingPersonParts.keyName(event.getKeyCode()));
            PersonWatch.putModifiers(made, event.isControlDown(), event.isShiftDown(), event.isAltDown(), event.isMetaDown());
            field.tell(made, watch.before());
        }
    }
}
