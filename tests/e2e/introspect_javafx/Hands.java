import java.util.List;
import javafx.animation.TranslateTransition;
import javafx.application.Application;
import javafx.application.Platform;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.canvas.Canvas;
import javafx.scene.control.Button;
import javafx.scene.control.CheckBoxTreeItem;
import javafx.scene.control.ColorPicker;
import javafx.scene.control.DatePicker;
import javafx.scene.control.Label;
import javafx.scene.control.Slider;
import javafx.scene.control.TableColumn;
import javafx.scene.control.TableView;
import javafx.scene.control.TextArea;
import javafx.scene.control.TreeView;
import javafx.scene.control.cell.CheckBoxTreeCell;
import javafx.scene.input.ClipboardContent;
import javafx.scene.input.TransferMode;
import javafx.scene.layout.HBox;
import javafx.scene.layout.Pane;
import javafx.scene.layout.Region;
import javafx.scene.layout.StackPane;
import javafx.scene.layout.VBox;
import javafx.beans.property.ReadOnlyStringWrapper;
import javafx.stage.FileChooser;
import javafx.stage.Stage;
import javafx.util.Duration;

/** Controls that read more of an event than that it happened. */
public class Hands extends Application {
    private final Label status = named(new Label(), "status");

    public static void main(String[] arguments) {
        launch(arguments);
    }

    @Override
    public void start(Stage stage) {
        Canvas canvas = named(new Canvas(100, 60), "canvas");
        canvas.setOnMouseClicked(click -> status.setText(click.getX() + "," + click.getY()));
        canvas.setOnScroll(scroll -> status.setText("scroll " + scroll.getX() + "," + scroll.getY()));
        canvas.setOnContextMenuRequested(menu -> status.setText("menu " + menu.getX() + "," + menu.getY()));
        Canvas far = named(new Canvas(50, 50), "far");
        far.setLayoutY(5000);
        far.setOnMouseClicked(click -> status.setText("far"));
        Slider slider = named(new Slider(0, 10, 2), "slider");
        Button failing = button("failing", "Failing", () -> {
            throw new IllegalStateException("private text");
        });
        Button choose = button("choose", "Choose", () -> new FileChooser().showOpenDialog(stage));
        VBox left = new VBox(4, status, canvas, slider, named(new DatePicker(), "date"), named(new ColorPicker(), "colour"),
                named(new TextArea(), "area"), dragged(), curtain(), failing, choose);
        VBox right = new VBox(4, tree(), table());
        Pane outside = new Pane(far);
        outside.setManaged(false);
        outside.setPickOnBounds(false);
        stage.setTitle("Hands");
        stage.setScene(new Scene(new HBox(8, left, right, outside), 700, 600));
        stage.setOnShown(shown -> Platform.runLater(() -> System.out.println("READY")));
        stage.show();
    }

    private HBox dragged() {
        Label source = named(new Label("Source"), "source");
        source.setOnDragDetected(detected -> {
            ClipboardContent content = new ClipboardContent();
            content.putString("carried");
            source.startDragAndDrop(TransferMode.COPY).setContent(content);
            detected.consume();
        });
        Label goal = named(new Label("Goal of the drag"), "goal");
        goal.setOnDragOver(over -> over.acceptTransferModes(TransferMode.COPY));
        goal.setOnDragDropped(dropped -> {
            status.setText("dropped " + dropped.getDragboard().getString());
            dropped.setDropCompleted(true);
        });
        return new HBox(60, source, goal);
    }

    /** A lid that slides away when it is asked to. */
    private StackPane curtain() {
        Region lid = named(new Region(), "lid");
        lid.setStyle("-fx-background-color: gray");
        TranslateTransition slide = new TranslateTransition(Duration.millis(300), lid);
        slide.setByX(400);
        Button under = button("under", "Under", () -> status.setText("under"));
        StackPane stack = new StackPane(under, lid);
        stack.setMaxWidth(200);
        Button open = button("open", "Open", slide::play);
        HBox.setMargin(open, null);
        return new StackPane(new HBox(open, stack));
    }

    private static TreeView<String> tree() {
        CheckBoxTreeItem<String> root = new CheckBoxTreeItem<>("root");
        for (String name : List.of("one", "two")) {
            CheckBoxTreeItem<String> child = new CheckBoxTreeItem<>(name);
            child.getChildren().add(new CheckBoxTreeItem<>(name + " leaf"));
            root.getChildren().add(child);
        }
        root.setExpanded(true);
        TreeView<String> tree = named(new TreeView<>(root), "checks");
        tree.setCellFactory(CheckBoxTreeCell.forTreeView());
        return tree;
    }

    private static TableView<String> table() {
        TableView<String> table = named(new TableView<>(), "sorted");
        TableColumn<String, String> column = new TableColumn<>("Fruit");
        column.setCellValueFactory(row -> new ReadOnlyStringWrapper(row.getValue()));
        table.getColumns().add(column);
        table.getItems().addAll("pear", "apple", "fig");
        return table;
    }

    private static Button button(String id, String text, Runnable work) {
        Button button = named(new Button(text), id);
        button.setOnAction(fired -> work.run());
        return button;
    }

    private static <N extends Node> N named(N node, String id) {
        node.setId(id);
        return node;
    }
}
