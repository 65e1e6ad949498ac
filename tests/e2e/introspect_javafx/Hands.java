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
import javafx.scene.control.TablePosition;
import javafx.scene.control.TableView;
import javafx.scene.control.TextArea;
import javafx.scene.control.TreeView;
import javafx.scene.control.cell.CheckBoxTreeCell;
import javafx.scene.control.skin.TableViewSkin;
import javafx.scene.input.ClipboardContent;
import javafx.scene.input.TransferMode;
import javafx.scene.layout.HBox;
import javafx.scene.layout.Pane;
import javafx.scene.layout.Region;
import javafx.scene.layout.StackPane;
import javafx.scene.layout.VBox;
import javafx.beans.property.ReadOnlyStringWrapper;
import javafx.collections.ListChangeListener;
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
                named(new TextArea(), "area"), named(new Paper(), "paper"), dragged(), curtain(), failing, choose);
        VBox right = new VBox(4, tree(), table());
        Pane outside = new Pane(far);
        outside.setManaged(false);
        outside.setPickOnBounds(false);
        stage.setTitle("Hands");
        stage.setScene(new Scene(new HBox(8, left, right, sheet(), outside), 1240, 600));
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

    /** More rows and columns than fit, and a total that the skin shows over the topmost rows. */
    private TableView<Integer> sheet() {
        TableView<Integer> sheet = named(new TableView<>(), "sheet");
        sheet.getSelectionModel().setCellSelectionEnabled(true);
        sheet.setFixedCellSize(24);
        sheet.setMinWidth(300);
        sheet.setMaxHeight(300);
        for (int at = 0; at < 12; at++) {
            int number = at;
            TableColumn<Integer, String> column = new TableColumn<>("Column " + at);
            column.setCellValueFactory(row -> new ReadOnlyStringWrapper(row.getValue() + "," + number));
            sheet.getColumns().add(column);
        }
        for (int row = 0; row < 1000; row++) {
            sheet.getItems().add(row);
        }
        sheet.getSelectionModel().getSelectedCells().addListener((ListChangeListener<TablePosition>) change -> {
            for (TablePosition<?, ?> cell : sheet.getSelectionModel().getSelectedCells()) {
                status.setText("cell " + cell.getRow() + "," + cell.getColumn());
            }
        });
        sheet.setSkin(new PinnedSkin(sheet));
        return sheet;
    }

    private static final class PinnedSkin extends TableViewSkin<Integer> {
        private final Label total = new Label("Total");

        PinnedSkin(TableView<Integer> table) {
            super(table);
            total.setStyle("-fx-background-color: lightgray");
            getChildren().add(total);
        }

        @Override
        protected void layoutChildren(double x, double y, double width, double height) {
            super.layoutChildren(x, y, width, height);
            total.resizeRelocate(x, y + 26, width - 20, 48);
        }
    }

    /** An editor as libraries have them: no text control of JavaFX, and its text is in nodes inside. */
    public static final class Paper extends StackPane {
        private final Label line = new Label("first");

        public Paper() {
            getChildren().add(line);
        }

        public boolean isEditable() {
            return !isDisabled();
        }

        public String getText() {
            return line.getText();
        }

        public void replaceText(int from, int to, String text) {
            line.setText(getText().substring(0, from) + text + getText().substring(to));
        }
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
