import java.util.stream.IntStream;
import javafx.application.Application;
import javafx.application.Platform;
import javafx.beans.property.BooleanProperty;
import javafx.beans.property.ReadOnlyStringWrapper;
import javafx.beans.property.SimpleBooleanProperty;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.chart.CategoryAxis;
import javafx.scene.chart.LineChart;
import javafx.scene.chart.NumberAxis;
import javafx.scene.control.Button;
import javafx.scene.control.ComboBox;
import javafx.scene.control.ContentDisplay;
import javafx.scene.control.Control;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.Label;
import javafx.scene.control.ListCell;
import javafx.scene.control.SkinBase;
import javafx.scene.control.TableColumn;
import javafx.scene.control.TableView;
import javafx.scene.control.TitledPane;
import javafx.scene.control.Tooltip;
import javafx.scene.layout.HBox;
import javafx.scene.layout.Region;
import javafx.scene.layout.StackPane;
import javafx.scene.layout.VBox;
import javafx.stage.Stage;

/** Controls as libraries have them: with properties that JavaFX's own controls lack, and with controls in odd places. */
public class Library extends Application {
    private final Label status = named(new Label(), "status");

    public static void main(String[] arguments) {
        launch(arguments);
    }

    @Override
    public void start(Stage stage) {
        Button save = named(new Button("", new HBox(new Label("\uf0c7"), new Label("Save as"))), "save");
        Button find = named(new Button("\uf002"), "find");
        find.setTooltip(new Tooltip("Find it"));
        Label carrier = named(new Label("", new HBox(new Label("Tag"), says("remove", "Remove"))), "carrier");
        TitledPane titled = named(new TitledPane("Section", new Label("inside")), "titled");
        titled.setGraphic(new HBox(says("edit", "Edit")));
        VBox left = new VBox(6, status, named(new Switch("Wireless"), "switch"), named(new Span(), "span"), named(new Stars(), "stars"),
                save, find, carrier, titled, people(), named(new Tiles(), "tiles"), new Label(" "));
        stage.setTitle("Library");
        stage.setScene(new Scene(new HBox(8, left, table(), new LineChart<>(new CategoryAxis(), new NumberAxis())), 1200, 600));
        stage.setOnShown(shown -> Platform.runLater(() -> System.out.println("READY")));
        stage.show();
    }

    /** A switch that is a label, not a toggle button; it listens right of its text only, where its thumb lies over a groove. */
    public static final class Switch extends Label {
        private final BooleanProperty selected = new SimpleBooleanProperty();

        public Switch(String text) {
            super(text);
            Region groove = new Region();
            groove.setMinSize(16, 16);
            groove.getStyleClass().add("thumb-area");
            Region thumb = new Region();
            StackPane both = new StackPane(groove, thumb);
            both.getChildren().forEach(part -> part.setOnMouseReleased(released -> selected.set(!selected.get())));
            setGraphic(both);
            setContentDisplay(ContentDisplay.RIGHT);
        }

        public BooleanProperty selectedProperty() {
            return selected;
        }
    }

    /** A slider with two thumbs, and a scale that is drawn with nodes; neither thumb passes the other one. */
    public static final class Span extends Control {
        private double low = 2;
        private double high = 8;

        public Span() {
            setSkin(new SkinBase<>(this) {});
            IntStream.range(0, 10).forEach(at -> getChildren().add(new Label("tick " + at)));
        }

        public double getLowValue() {
            return low;
        }

        public void setLowValue(double value) {
            low = Math.min(value, high);
        }

        public double getHighValue() {
            return high;
        }

        public void setHighValue(double value) {
            high = Math.max(value, low);
        }
    }

    /** A row of stars. */
    public static final class Stars extends Control {
        private double rating = 3;

        public Stars() {
            setSkin(new SkinBase<>(this) {});
            getChildren().add(new Button("*"));
        }

        public double getRating() {
            return rating;
        }

        public void setRating(double value) {
            rating = value;
        }
    }

    /** A list of a library's own, whose rows are cells with controls in them. */
    private final class Tiles extends VBox {
        Tiles() {
            for (int at = 0; at < 2; at++) {
                Button open = says("open" + at, "Open " + at);
                IndexedCell<String> row = new IndexedCell<>();
                row.setSkin(new SkinBase<IndexedCell<String>>(row) {
                    {
                        getChildren().add(open);
                    }
                });
                getChildren().add(row);
            }
        }
    }

    /** A box whose cell writes its items in another way than their class does. */
    private static ComboBox<int[]> people() {
        ComboBox<int[]> box = named(new ComboBox<>(), "people");
        box.setButtonCell(new ListCell<>() {
            @Override
            protected void updateItem(int[] item, boolean empty) {
                super.updateItem(item, empty);
                setText(empty || item == null ? "" : "Person " + item[0]);
            }
        });
        box.getItems().add(new int[] {7});
        box.getSelectionModel().select(0);
        return box;
    }

    /** Columns below a common header. */
    private TableView<String> table() {
        TableView<String> table = named(new TableView<>(), "names");
        TableColumn<String, String> name = new TableColumn<>("Name");
        name.getColumns().add(column("First", 0));
        name.getColumns().add(column("Last", 1));
        table.getColumns().add(name);
        table.getColumns().add(column("Town", 2));
        table.getItems().addAll("Ann Lee Rome", "Bob Ray Oslo");
        table.getSelectionModel().setCellSelectionEnabled(true);
        table.getFocusModel().focusedCellProperty().addListener((at, before, now) ->
                status.setText(now.getTableColumn() == null ? "" : now.getTableColumn().getText() + " " + now.getRow()));
        return table;
    }

    private static TableColumn<String, String> column(String title, int part) {
        TableColumn<String, String> column = new TableColumn<>(title);
        column.setCellValueFactory(row -> new ReadOnlyStringWrapper(row.getValue().split(" ")[part]));
        return column;
    }

    private Button says(String id, String text) {
        Button button = named(new Button(text), id);
        button.setOnAction(pressed -> status.setText(id));
        return button;
    }

    private static <N extends Node> N named(N node, String id) {
        node.setId(id);
        return node;
    }
}
