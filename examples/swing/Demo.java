import java.awt.BorderLayout;
import java.awt.Component;
import java.awt.Dimension;
import java.awt.FlowLayout;
import java.awt.event.ActionEvent;
import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.awt.event.MouseAdapter;
import java.awt.event.MouseEvent;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import javax.swing.AbstractAction;
import javax.swing.Box;
import javax.swing.BoxLayout;
import javax.swing.DefaultListModel;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JColorChooser;
import javax.swing.JComboBox;
import javax.swing.JComponent;
import javax.swing.JDialog;
import javax.swing.JFileChooser;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JList;
import javax.swing.JMenu;
import javax.swing.JMenuBar;
import javax.swing.JMenuItem;
import javax.swing.JOptionPane;
import javax.swing.JPanel;
import javax.swing.JPasswordField;
import javax.swing.JScrollPane;
import javax.swing.JSlider;
import javax.swing.JSpinner;
import javax.swing.JTabbedPane;
import javax.swing.JTable;
import javax.swing.JTextArea;
import javax.swing.JTextField;
import javax.swing.JTree;
import javax.swing.KeyStroke;
import javax.swing.OverlayLayout;
import javax.swing.SwingUtilities;
import javax.swing.table.DefaultTableModel;
import javax.swing.tree.DefaultMutableTreeNode;

/** A Swing program with one of everything, to be looked at and operated from outside; it does nothing for that. */
public final class Demo {
    private final JFrame frame = new JFrame("Demo");
    private final JLabel status = named(new JLabel(" "), "status");
    private final JPanel grow = named(row(), "grow");
    private final DefaultListModel<String> items = new DefaultListModel<>();
    private int clicks;

    public static void main(String[] arguments) {
        SwingUtilities.invokeLater(() -> new Demo().show());
    }

    private void show() {
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setJMenuBar(menus());
        JTabbedPane tabs = named(new JTabbedPane(), "tabs");
        tabs.addTab("Form", form());
        tabs.addTab("Table", table());
        tabs.addTab("Tree", new JScrollPane(tree()));
        tabs.addTab("More", more());
        frame.add(tabs);
        frame.setSize(900, 700);
        frame.setVisible(true);
        SwingUtilities.invokeLater(() -> System.out.println("READY"));
    }

    private JComponent form() {
        JPanel form = new JPanel();
        form.setLayout(new BoxLayout(form, BoxLayout.Y_AXIS));
        JPanel hidden = named(row(named(new JLabel("Deep"), "inside-hidden")), "hidden-pane");
        hidden.setVisible(false);
        for (Component part : List.of(new JLabel("Customer"), fields(), buttons(), status, pair(), hidden, covered(), offset(), list(), grow)) {
            if (part instanceof JComponent) {
                ((JComponent) part).setAlignmentX(0);
            }
            form.add(part);
        }
        return form;
    }

    private JPanel fields() {
        JTextField name = named(new JTextField(12), "name");
        name.putClientProperty("JTextField.placeholderText", "Name");
        JTextField fixed = named(new JTextField("fixed"), "fixed");
        fixed.setEditable(false);
        return row(name, named(new JPasswordField("hunter2-secret", 10), "secret"), named(new JCheckBox("Newsletter"), "news"), fixed);
    }

    private JPanel buttons() {
        JButton ok = button("okButton", "OK", () -> status.setText("clicked " + ++clicks));
        ok.putClientProperty("FlatLaf.styleClass", "primary");
        ok.setToolTipText("Confirm");
        ok.getInputMap().put(KeyStroke.getKeyStroke(KeyEvent.VK_ENTER, InputEvent.CTRL_DOWN_MASK), "ctrl enter");
        ok.getActionMap().put("ctrl enter", action(() -> status.setText("ctrl enter")));
        JButton off = button("off", "Off", () -> status.setText("off"));
        off.setEnabled(false);
        JButton later = button("later", "Later", () -> SwingUtilities.invokeLater(() -> SwingUtilities.invokeLater(() -> status.setText("later"))));
        JButton reverse = button("reverse", "Reverse", this::reverse);
        return row(ok, off, later, button("slow", "Slow", () -> pause(3000)), button("modal", "Modal", this::ask),
                button("alert", "Alert", () -> status.setText("answer " + JOptionPane.showConfirmDialog(frame, "Well done?"))),
                button("choose", "Choose", this::choose), button("add", "Add", () -> add(new JButton("Grown"))),
                button("remove", "Remove", this::remove), reverse);
    }

    private void ask() {
        JDialog dialog = new JDialog(frame, "Question", true);
        JButton yes = button("yes", "Yes", () -> {
            dialog.dispose();
            status.setText("yes");
        });
        dialog.add(row(new JLabel("Are you sure?"), yes));
        dialog.pack();
        dialog.setVisible(true);
    }

    private void choose() {
        JFileChooser chooser = named(new JFileChooser(), "chooser");
        if (chooser.showOpenDialog(frame) == JFileChooser.APPROVE_OPTION) {
            status.setText("chose " + chooser.getSelectedFile().getName());
        }
    }

    private void reverse() {
        List<String> all = Collections.list(items.elements());
        Collections.reverse(all);
        for (int at = 0; at < all.size(); at++) {
            items.set(at, all.get(at));
        }
    }

    private void add(Component made) {
        grow.add(made);
        grow.revalidate();
    }

    private void remove() {
        grow.remove(0);
        grow.revalidate();
        grow.repaint();
    }

    private static JPanel pair() {
        return named(row(new JLabel("One"), new JButton("Two"), new JLabel("Three"), new JButton("Four")), "pair");
    }

    private static JPanel covered() {
        JPanel lid = named(new JPanel(), "lid");
        lid.addMouseListener(new MouseAdapter() {});
        JPanel stack = new JPanel();
        stack.setLayout(new OverlayLayout(stack));
        stack.add(lid);
        stack.add(row(named(new JButton("Covered"), "covered")));
        stack.setMaximumSize(new Dimension(300, 40));
        return stack;
    }

    private static JPanel offset() {
        JPanel offset = named(new JPanel(new FlowLayout(FlowLayout.LEFT, 10, 0)), "offset");
        offset.add(named(new JButton("Nested"), "nested"));
        Box around = Box.createHorizontalBox();
        around.add(Box.createHorizontalStrut(40));
        around.add(offset);
        return row(around);
    }

    private JScrollPane list() {
        IntStream.range(0, 1000).forEach(at -> items.addElement("Item " + at));
        JScrollPane pane = new JScrollPane(named(new JList<>(items), "list"));
        pane.setPreferredSize(new Dimension(300, 200));
        pane.setMaximumSize(new Dimension(300, 200));
        return pane;
    }

    private static JScrollPane table() {
        DefaultTableModel model = new DefaultTableModel(new Object[] {"Name", "Age", "Town"}, 0);
        for (int at = 0; at < 1000; at++) {
            model.addRow(new Object[] {"Person " + at, 20 + at % 60, "Town " + at % 7});
        }
        JTable table = named(new JTable(model), "people");
        table.setAutoCreateRowSorter(true);
        return new JScrollPane(table);
    }

    private static JTree tree() {
        DefaultMutableTreeNode root = new DefaultMutableTreeNode("Root");
        for (int at = 0; at < 5; at++) {
            DefaultMutableTreeNode child = new DefaultMutableTreeNode("Root " + at);
            child.add(new DefaultMutableTreeNode("Root " + at + " leaf"));
            root.add(child);
        }
        return named(new JTree(root), "tree");
    }

    private JPanel more() {
        JComponent canvas = named(new JComponent() {}, "canvas");
        canvas.setPreferredSize(new Dimension(100, 60));
        canvas.addMouseListener(new MouseAdapter() {
            @Override
            public void mouseClicked(MouseEvent click) {
                status.setText(click.getX() + "," + click.getY());
                canvas.setToolTipText(click.getX() + "," + click.getY());
            }
        });
        JPanel more = row(named(new JComboBox<>(new String[] {"Rome", "Oslo", "Lima"}), "towns"), named(new JSlider(0, 10, 2), "slider"),
                named(new JSpinner(), "spinner"), named(new JTextArea(3, 20), "area"), canvas, named(new JColorChooser(), "colour"));
        more.setPreferredSize(new Dimension(700, 500));
        return more;
    }

    private JMenuBar menus() {
        JMenuItem open = new JMenuItem("Open");
        open.setAccelerator(KeyStroke.getKeyStroke(KeyEvent.VK_O, InputEvent.CTRL_DOWN_MASK));
        open.addActionListener(chosen -> status.setText("opened"));
        JMenu file = new JMenu("File");
        file.add(open);
        JMenuBar bar = new JMenuBar();
        bar.add(file);
        return bar;
    }

    private static JPanel row(Component... parts) {
        JPanel row = new JPanel(new FlowLayout(FlowLayout.LEFT, 4, 0));
        for (Component part : parts) {
            row.add(part);
        }
        return row;
    }

    private static JButton button(String name, String text, Runnable work) {
        JButton button = named(new JButton(text), name);
        button.addActionListener(fired -> work.run());
        return button;
    }

    private static AbstractAction action(Runnable work) {
        return new AbstractAction() {
            @Override
            public void actionPerformed(ActionEvent fired) {
                work.run();
            }
        };
    }

    private static <C extends Component> C named(C component, String name) {
        component.setName(name);
        return component;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException woken) {
            Thread.currentThread().interrupt();
        }
    }
}
