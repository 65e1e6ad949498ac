import java.util.ArrayList;
import java.util.List;
import javafx.application.Application;
import javafx.application.Platform;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.control.Button;
import javafx.scene.control.CheckBox;
import javafx.scene.control.Label;
import javafx.scene.control.ScrollPane;
import javafx.scene.control.TextField;
import javafx.scene.control.ToolBar;
import javafx.scene.layout.HBox;
import javafx.scene.layout.Pane;
import javafx.scene.layout.VBox;
import javafx.stage.Stage;

/** A scene of many nodes in one of several shapes: {@code rows}, {@code flat}, {@code deep} or {@code bar}. */
public final class Large extends Application {
    public static void main(String[] arguments) {
        launch(arguments);
    }

    @Override
    public void start(Stage stage) {
        int nodes = Integer.parseInt(getParameters().getRaw().get(1));
        Label status = new Label("0");
        status.setId("status");
        Button count = new Button("Count");
        count.setId("count");
        count.setOnAction(pressed -> status.setText(String.valueOf(Integer.parseInt(status.getText()) + 1)));
        Node many = shape(getParameters().getRaw().get(0), nodes);
        stage.setTitle("Large");
        stage.setScene(new Scene(new VBox(count, status, many), 900, 700));
        stage.setOnShown(shown -> Platform.runLater(() -> System.out.println("READY")));
        stage.show();
    }

    private static Node shape(String name, int nodes) {
        switch (name) {
            case "rows": return new ScrollPane(rows(nodes / 5));
            case "flat": return new ScrollPane(new VBox(leaves(nodes)));
            case "deep": return new ScrollPane(deep(nodes));
            default: return new ToolBar(leaves(nodes));
        }
    }

    private static VBox rows(int count) {
        VBox all = new VBox();
        for (int at = 0; at < count; at++) {
            all.getChildren().add(new HBox(new Label("Row " + at), new TextField("value " + at), new CheckBox("on"), new Button("Go")));
        }
        return all;
    }

    private static Node[] leaves(int count) {
        List<Node> all = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            all.add(at % 2 == 0 ? new Label("Leaf " + at) : new Button("Leaf " + at));
        }
        return all.toArray(new Node[0]);
    }

    private static Pane deep(int nodes) {
        VBox all = new VBox();
        for (int chain = 0; chain < nodes / 100; chain++) {
            Pane inner = new VBox(new Label("Bottom " + chain));
            for (int level = 0; level < 98; level++) {
                inner = new VBox(inner);
            }
            all.getChildren().add(inner);
        }
        return all;
    }
}
