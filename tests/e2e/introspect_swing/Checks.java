import java.awt.EventQueue;
import javax.swing.JFrame;
import javax.swing.JScrollPane;
import javax.swing.JTable;
import javax.swing.table.DefaultTableModel;

/** A table with a box in each row. */
public final class Checks {
    private Checks() {}

    public static void main(String[] args) {
        EventQueue.invokeLater(Checks::open);
    }

    private static void open() {
        Object[][] rows = {{"robin", true}, {"wren", false}};
        JTable table = new JTable(new DefaultTableModel(rows, new Object[] {"Name", "Seen"}) {
            @Override
            public Class<?> getColumnClass(int column) {
                return column == 1 ? Boolean.class : String.class;
            }
        });
        table.setName("birds");
        JFrame frame = new JFrame("Checks");
        frame.add(new JScrollPane(table));
        frame.pack();
        frame.setVisible(true);
        EventQueue.invokeLater(() -> System.out.println("READY"));
    }
}
