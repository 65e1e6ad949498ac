import java.awt.BorderLayout;
import java.awt.Component;
import javax.swing.BoxLayout;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JPanel;
import javax.swing.JScrollPane;
import javax.swing.JTextField;
import javax.swing.JToolBar;
import javax.swing.SwingUtilities;

/** A window of many components in one of several shapes: {@code rows}, {@code flat}, {@code deep} or {@code bar}. */
public final class Large {
    private Large() {}

    public static void main(String[] arguments) {
        SwingUtilities.invokeLater(() -> show(arguments[0], Integer.parseInt(arguments[1])));
    }

    private static void show(String shape, int nodes) {
        JLabel status = new JLabel("0");
        status.setName("status");
        JButton count = new JButton("Count");
        count.setName("count");
        count.addActionListener(pressed -> status.setText(String.valueOf(Integer.parseInt(status.getText()) + 1)));
        JPanel top = new JPanel();
        top.add(count);
        top.add(status);
        JFrame frame = new JFrame("Large");
        frame.add(top, BorderLayout.NORTH);
        frame.add(new JScrollPane(shape(shape, nodes)));
        frame.setSize(900, 700);
        frame.setVisible(true);
        SwingUtilities.invokeLater(() -> System.out.println("READY"));
    }

    private static JComponent shape(String name, int nodes) {
        switch (name) {
            case "rows": return rows(nodes / 5);
            case "flat": return filled(column(), nodes);
            case "deep": return deep(nodes);
            default: return filled(new JToolBar(), nodes);
        }
    }

    private static JPanel column() {
        JPanel panel = new JPanel();
        panel.setLayout(new BoxLayout(panel, BoxLayout.Y_AXIS));
        return panel;
    }

    private static JPanel rows(int count) {
        JPanel all = column();
        for (int at = 0; at < count; at++) {
            JPanel row = new JPanel();
            for (Component part : new Component[] {new JLabel("Row " + at), new JTextField("value " + at), new JCheckBox("on"), new JButton("Go")}) {
                row.add(part);
            }
            all.add(row);
        }
        return all;
    }

    private static JComponent filled(JComponent container, int count) {
        for (int at = 0; at < count; at++) {
            container.add(at % 2 == 0 ? new JLabel("Leaf " + at) : new JButton("Leaf " + at));
        }
        return container;
    }

    private static JPanel deep(int nodes) {
        JPanel all = column();
        for (int chain = 0; chain < nodes / 100; chain++) {
            JPanel inner = new JPanel(new BorderLayout());
            inner.add(new JLabel("Bottom " + chain));
            for (int level = 0; level < 98; level++) {
                JPanel outer = new JPanel(new BorderLayout());
                outer.add(inner);
                inner = outer;
            }
            all.add(inner);
        }
        return all;
    }
}
