import java.awt.BorderLayout;
import java.awt.Dimension;
import javafx.application.Platform;
import javafx.embed.swing.JFXPanel;
import javafx.embed.swing.SwingNode;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.control.Button;
import javafx.scene.control.ComboBox;
import javafx.scene.control.Label;
import javafx.scene.control.ListView;
import javafx.scene.control.TextField;
import javafx.scene.layout.VBox;
import javafx.stage.Stage;
import javax.swing.JButton;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JList;
import javax.swing.JOptionPane;
import javax.swing.JPanel;
import javax.swing.JScrollPane;
import javax.swing.JTextField;
import javax.swing.SwingUtilities;

/** A Swing window with a scene inside, and a stage with Swing inside. */
public class Mixed {
    public static void main(String[] arguments) {
        SwingUtilities.invokeLater(Mixed::frame);
    }

    private static void frame() {
        JFrame frame = new JFrame("Swing outside");
        JFXPanel panel = new JFXPanel();
        panel.setName("panel");
        panel.setPreferredSize(new Dimension(300, 900));
        JButton ask = named(new JButton("Ask"), "ask");
        ask.addActionListener(fired -> JOptionPane.showMessageDialog(frame, "Sure?"));
        frame.add(ask, BorderLayout.NORTH);
        frame.add(new JScrollPane(panel), BorderLayout.CENTER);
        frame.setSize(400, 400);
        frame.setLocation(20, 30);
        frame.setVisible(true);
        Platform.setImplicitExit(false);
        Platform.runLater(() -> {
            panel.setScene(new Scene(scene()));
            stage();
        });
    }

    private static VBox scene() {
        Label said = named(new Label(), "fxSaid");
        Button button = named(new Button("In JavaFX"), "fxButton");
        button.setOnAction(fired -> said.setText(Thread.currentThread().getName()));
        ListView<String> list = named(new ListView<>(), "fxList");
        list.getItems().addAll("one", "two", "three");
        ComboBox<String> box = named(new ComboBox<>(), "fxBox");
        box.getItems().addAll("red", "green");
        Button low = named(new Button("Far below"), "fxLow");
        low.setOnAction(fired -> said.setText("low"));
        return new VBox(10, said, button, named(new TextField(), "fxField"), box, list, low);
    }

    private static void stage() {
        SwingNode node = named(new SwingNode(), "node");
        Button plain = named(new Button("Plain"), "plain");
        Stage stage = new Stage();
        stage.setTitle("JavaFX outside");
        stage.setX(500);
        stage.setY(60);
        stage.setScene(new Scene(new VBox(10, plain, node), 300, 300));
        stage.show();
        SwingUtilities.invokeLater(() -> {
            node.setContent(content());
            SwingUtilities.invokeLater(() -> Platform.runLater(() -> System.out.println("READY")));
        });
    }

    private static JComponent content() {
        JPanel content = new JPanel();
        JLabel said = named(new JLabel("nothing"), "swingSaid");
        JButton button = named(new JButton("In Swing"), "swingButton");
        button.addActionListener(fired -> said.setText("dispatch thread " + SwingUtilities.isEventDispatchThread()));
        content.add(said);
        content.add(button);
        content.add(named(new JTextField(12), "swingField"));
        content.add(named(new JList<>(new String[] {"a", "b", "c"}), "swingList"));
        return content;
    }

    private static <N extends Node> N named(N node, String id) {
        node.setId(id);
        return node;
    }

    private static <C extends JComponent> C named(C component, String name) {
        component.setName(name);
        return component;
    }
}
