import java.awt.EventQueue;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.swing.JFrame;
import javax.swing.JLabel;

/** A program that has loaded AWT but opens its window only once a file exists; it says whether its thread finds the program's classes. */
public final class Late {
    private Late() {}

    public static void main(String[] args) throws Exception {
        Class.forName("java.awt.Window", false, null);
        System.out.println("READY");
        while (!Files.exists(Path.of(args[0]))) {
            Thread.sleep(20);
        }
        EventQueue.invokeLater(Late::open);
    }

    private static void open() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        JLabel label = new JLabel(loader == Late.class.getClassLoader() ? "finds classes" : "finds none");
        label.setName("said");
        JFrame frame = new JFrame("Late");
        frame.add(label);
        frame.pack();
        frame.setVisible(true);
    }
}
