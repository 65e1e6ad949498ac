import javafx.stage.Stage;

/** A program that wants to be seen and carries the agent itself: its only argument is where the agent writes. */
public class Embedded extends Demo {
    public static void main(String[] arguments) {
        launch(arguments);
    }

    @Override
    public void start(Stage stage) {
        uimcp.boot.Boot.embed("enabled=true;file=" + getParameters().getRaw().get(0));
        super.start(stage);
    }
}
