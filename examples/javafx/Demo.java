import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javafx.animation.PauseTransition;
import javafx.application.Application;
import javafx.application.Platform;
import javafx.beans.property.ReadOnlyStringWrapper;
import javafx.collections.FXCollections;
import javafx.collections.ObservableList;
import javafx.scene.Scene;
import javafx.scene.canvas.Canvas;
import javafx.scene.control.Alert;
import javafx.scene.control.Button;
import javafx.scene.control.CheckBox;
import javafx.scene.control.ComboBox;
import javafx.scene.control.ContextMenu;
import javafx.scene.control.Label;
import javafx.scene.control.ListView;
import javafx.scene.control.Menu;
import javafx.scene.control.MenuBar;
import javafx.scene.control.MenuItem;
import javafx.scene.control.PasswordField;
import javafx.scene.control.RadioButton;
import javafx.scene.control.ScrollPane;
import javafx.scene.control.SelectionMode;
import javafx.scene.control.Tab;
import javafx.scene.control.TabPane;
import javafx.scene.control.TableColumn;
import javafx.scene.control.TableView;
import javafx.scene.control.TextField;
import javafx.scene.control.Tooltip;
import javafx.scene.control.TreeItem;
import javafx.scene.control.TreeTableColumn;
import javafx.scene.control.TreeTableView;
import javafx.scene.control.TreeView;
import javafx.scene.input.KeyCode;
import javafx.scene.layout.HBox;
import javafx.scene.layout.Pane;
import javafx.scene.layout.Region;
import javafx.scene.layout.StackPane;
import javafx.scene.layout.VBox;
import javafx.stage.Modality;
import javafx.stage.Stage;
import javafx.util.Duration;
import javafx.util.StringConverter;

/** A program with one of everything, to be looked at and operated from outside; it does nothing for that. */
public class Demo extends Application {
    private final Label status = named(new Label(), "status");
    private final HBox grow = named(new HBox(), "grow");
    private final ObservableList<String> items = FXCollections.observableArrayList(
            IntStream.range(0, 1000).mapToObj(at -> "Item " + at).collect(Collectors.toList()));
    private final Set<String> threads = Collections.synchronizedSet(new TreeSet<>());
    private int clicks;

    public static void main(String[] arguments) {
        launch(arguments);
    }

    @Override
    public void start(Stage stage) {
        VBox form = new VBox(4, new Label("Customer"), fields(), buttons(stage), status, pair(), hidden(), covered(), offset(), rows(), grow);
        TabPane tabs = named(new TabPane(new Tab("Form", form), new Tab("Table", table()), new Tab("Trees", trees()), new Tab("More", more())), "tabs");
        tabs.getTabs().forEach(tab -> tab.setClosable(false));
        VBox root = new VBox(menus(), tabs);
        int extra = Integer.getInteger("demo.nodes", 0);
        if (extra > 0) {
            tabs.getTabs().add(new Tab("Many", many(extra)));
            tabs.getSelectionModel().selectLast();
        }
        stage.setTitle("Demo");
        stage.setScene(new Scene(root, 900, 700));
        stage.setOnShown(shown -> Platform.runLater(() -> System.out.println("READY")));
        stage.show();
    }

    private HBox fields() {
        TextField name = named(new TextField(), "name");
        name.setPromptText("Name");
        name.textProperty().addListener(changed -> threads.add(Thread.currentThread().getName()));
        PasswordField secret = named(new PasswordField(), "secret");
        secret.setText("hunter2-secret");
        TextField fixed = named(new TextField("fixed"), "fixed");
        fixed.setEditable(false);
        return new HBox(4, name, secret, named(new CheckBox("Newsletter"), "news"), fixed, named(new RadioButton("Weekly"), "weekly"));
    }

    private HBox buttons(Stage stage) {
        Button ok = button("okButton", "OK", () -> status.setText("clicked " + ++clicks));
        ok.getStyleClass().add("primary");
        ok.setTooltip(new Tooltip("Confirm"));
        ok.setOnKeyPressed(key -> {
            if (key.getCode() == KeyCode.ENTER && key.isControlDown()) {
                status.setText("ctrl enter");
            }
        });
        Button off = button("off", "Off", () -> status.setText("off"));
        off.setDisable(true);
        Button later = button("later", "Later", () -> Platform.runLater(() -> Platform.runLater(() -> status.setText("later"))));
        Button slow = button("slow", "Slow", () -> pause(3000));
        Button modal = button("modal", "Modal", () -> ask(stage));
        Button alert = button("alert", "Alert", () -> new Alert(Alert.AlertType.INFORMATION, "Well done").showAndWait());
        Button add = button("add", "Add", () -> grow.getChildren().add(new Button("Grown")));
        Button remove = button("remove", "Remove", () -> grow.getChildren().remove(0));
        Button reverse = button("reverse", "Reverse", () -> FXCollections.reverse(items));
        Button window = button("window", "Window", Demo::aside);
        Button hide = button("hide", "Hide", () -> away(stage));
        Button who = button("threads", "Threads", () -> status.setText(String.join(", ", threads)));
        return new HBox(4, ok, off, later, slow, modal, alert, add, remove, reverse, window, hide, who);
    }

    private void ask(Stage owner) {
        Stage dialog = new Stage();
        dialog.initOwner(owner);
        dialog.initModality(Modality.APPLICATION_MODAL);
        dialog.setTitle("Question");
        Button yes = button("yes", "Yes", () -> {
            dialog.close();
            status.setText("yes");
        });
        dialog.setScene(new Scene(new VBox(new Label("Are you sure?"), yes), 200, 100));
        dialog.showAndWait();
    }

    private static void aside() {
        Stage aside = new Stage();
        aside.setTitle("Aside");
        aside.setScene(new Scene(new VBox(new Label("Another window"), button("close-aside", "Close", aside::close)), 200, 100));
        aside.show();
    }

    private static void away(Stage stage) {
        Platform.setImplicitExit(false);
        stage.hide();
        PauseTransition pause = new PauseTransition(Duration.seconds(4));
        pause.setOnFinished(passed -> {
            stage.show();
            Platform.setImplicitExit(true);
        });
        pause.play();
    }

    private static HBox pair() {
        return named(new HBox(new Label("One"), new Button("Two"), new Label("Three"), new Button("Four")), "pair");
    }

    private static Pane hidden() {
        Pane hidden = named(new Pane(named(new Label("Deep"), "inside-hidden")), "hidden-pane");
        hidden.setVisible(false);
        return hidden;
    }

    private static StackPane covered() {
        return new StackPane(named(new Button("Covered"), "covered"), named(new Region(), "lid"));
    }

    private static Pane offset() {
        Button nested = named(new Button("Nested"), "nested");
        nested.setLayoutX(10);
        Pane offset = named(new Pane(nested), "offset");
        VBox.setMargin(offset, new javafx.geometry.Insets(0, 0, 0, 40));
        return offset;
    }

    private ListView<String> rows() {
        ListView<String> list = named(new ListView<>(items), "list");
        list.setPrefHeight(200);
        return list;
    }

    private static TableView<String[]> table() {
        TableView<String[]> table = named(new TableView<>(), "people");
        List<String> titles = List.of("Name", "Age", "Town");
        for (int at = 0; at < titles.size(); at++) {
            int column = at;
            TableColumn<String[], String> made = new TableColumn<>(titles.get(at));
            made.setId(at == 0 ? "nameCol" : null);
            made.setCellValueFactory(row -> new ReadOnlyStringWrapper(row.getValue()[column]));
            made.setPrefWidth(150);
            table.getColumns().add(made);
        }
        table.getSelectionModel().setSelectionMode(SelectionMode.MULTIPLE);
        for (int at = 0; at < 1000; at++) {
            table.getItems().add(new String[] {"Person " + at, String.valueOf(20 + at % 60), "Town " + at % 7});
        }
        return table;
    }

    private static HBox trees() {
        TreeView<String> tree = named(new TreeView<>(branch("Root")), "tree");
        TreeTableView<String> both = named(new TreeTableView<>(branch("Top")), "treeTable");
        TreeTableColumn<String, String> column = new TreeTableColumn<>("Title");
        column.setCellValueFactory(row -> new ReadOnlyStringWrapper(row.getValue().getValue()));
        column.setPrefWidth(200);
        both.getColumns().add(column);
        return new HBox(tree, both);
    }

    private static TreeItem<String> branch(String title) {
        TreeItem<String> root = new TreeItem<>(title);
        for (int at = 0; at < 5; at++) {
            TreeItem<String> child = new TreeItem<>(title + " " + at);
            child.getChildren().add(new TreeItem<>(title + " " + at + " leaf"));
            root.getChildren().add(child);
        }
        root.setExpanded(true);
        return root;
    }

    private VBox more() {
        ComboBox<String> towns = named(new ComboBox<>(FXCollections.observableArrayList("Rome", "Oslo", "Lima")), "towns");
        towns.setUserData(42);
        towns.setConverter(new StringConverter<>() {
            @Override
            public String toString(String town) {
                threads.add(Thread.currentThread().getName());
                return town;
            }

            @Override
            public String fromString(String text) {
                return text;
            }
        });
        Label spot = named(new Label("Context"), "spot");
        spot.setUserData(circle());
        MenuItem inspect = new MenuItem("Inspect");
        inspect.setOnAction(chosen -> status.setText("inspected"));
        spot.setContextMenu(new ContextMenu(inspect));
        Canvas canvas = named(new Canvas(100, 50), "canvas");
        canvas.getProperties().put("mcp.uid", "the-canvas");
        return new VBox(4, towns, spot, canvas, new Button("Anonymous") {}, named(new Label("half \ud83d"), "broken"));
    }

    /** Two lists that hold each other: to write one as text never ends. */
    private static Object circle() {
        List<Object> one = new ArrayList<>();
        List<Object> other = new ArrayList<>();
        one.add(other);
        other.add(one);
        return one;
    }

    private MenuBar menus() {
        MenuItem open = new MenuItem("Open");
        open.setOnAction(chosen -> status.setText("opened"));
        MenuItem quit = new MenuItem("Quit");
        quit.setOnAction(chosen -> Platform.exit());
        return new MenuBar(new Menu("File", null, open, quit));
    }

    private static ScrollPane many(int count) {
        VBox all = named(new VBox(), "many");
        for (int at = 0; at < count / 5; at++) {
            all.getChildren().add(new HBox(new Label("Row " + at), new TextField("value " + at), new CheckBox("on"), new Button("Go")));
        }
        return new ScrollPane(all);
    }

    private static Button button(String id, String text, Runnable work) {
        Button button = named(new Button(text), id);
        button.setOnAction(fired -> work.run());
        return button;
    }

    private static <N extends javafx.scene.Node> N named(N node, String id) {
        node.setId(id);
        return node;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException woken) {
            Thread.currentThread().interrupt();
        }
    }
}
