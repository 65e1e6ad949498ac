package uimcp.core;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javafx.event.EventHandler;
import javafx.geometry.Point2D;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.scene.robot.Robot;
import javafx.stage.Stage;
import javafx.stage.Window;

/** Clicks with the real pointer, one step per pulse: the window system answers later than we can ask. */
final class NativePointer {
    private static final int LOOKS = 40;
    private static final long PULSES_MILLIS = 5000;

    private NativePointer() {}

    /** Whether an action is one for the real pointer. */
    static boolean means(Map<String, Object> action) {
        return RequestFields.flag(action, "native") && List.of("click", "doubleClick").contains(String.valueOf(action.get("type")));
    }

    static void click(Refs refs, Map<String, Object> action, long limitMillis) throws AgentException {
        int count = "doubleClick".equals(action.get("type")) ? 2 : (int) RequestFields.number(action, "clickCount", 1);
        MouseButton button = Actions.button(action);
        Window window = FxThread.call(limitMillis, () -> raised(new Actions(refs, action).pointed().scene.getWindow()));
        settle(window, limitMillis);
        Robot robot = FxThread.call(limitMillis, Robot::new);
        Point2D before = FxThread.call(limitMillis, robot::getMousePosition);
        step(limitMillis, () -> move(robot, new Actions(refs, action).pointed()));
        var pressed = new CountDownLatch(count);
        EventHandler<MouseEvent> heard = press -> pressed.countDown();
        FxThread.call(limitMillis, Actions.work(() -> window.addEventFilter(MouseEvent.MOUSE_PRESSED, heard)));
        try {
            for (int nth = 0; nth < count; nth++) {
                long left = count - nth - 1;
                step(limitMillis, () -> robot.mousePress(button));
                await(pressed, left);
                step(limitMillis, () -> robot.mouseRelease(button));
            }
            step(limitMillis, () -> robot.mouseMove(before));
        } finally {
            FxThread.call(limitMillis, Actions.work(() -> window.removeEventFilter(MouseEvent.MOUSE_PRESSED, heard)));
        }
        if (pressed.getCount() > 0) {
            throw AgentException.refused("NOT_RECEIVED", "The window did not get the click");
        }
    }

    /** The press travels through the window system, which may take its time. */
    private static void await(CountDownLatch pressed, long left) throws AgentException {
        for (int look = 0; look < LOOKS && pressed.getCount() > left; look++) {
            FxThread.idle(PULSES_MILLIS);
        }
    }

    /** A click on a window that is not in front would only bring it there. */
    private static Window raised(Window window) {
        if (window instanceof Stage && !window.isFocused()) {
            ((Stage) window).toFront();
            window.requestFocus();
        }
        return window;
    }

    /** Wait until the window manager has put the window where it stays: in front, and in one place for two looks. */
    private static void settle(Window window, long limitMillis) throws AgentException {
        double[] last = null;
        for (int look = 0; look < LOOKS; look++) {
            FxThread.idle(limitMillis);
            double[] now = FxThread.call(limitMillis, () -> place(window));
            boolean still = Arrays.equals(now, last);
            last = now;
            if (still && (window.isFocused() || !(window instanceof Stage))) {
                return;
            }
        }
    }

    private static double[] place(Window window) {
        return new double[] {window.getX(), window.getY(), window.getScene().getX(), window.getScene().getY(), window.getWidth()};
    }

    private static void move(Robot robot, Actionability.HitPoint spot) {
        Window window = spot.scene.getWindow();
        robot.mouseMove(spot.x + spot.scene.getX() + window.getX(), spot.y + spot.scene.getY() + window.getY());
    }

    private static void step(long limitMillis, Actions.Work work) throws AgentException {
        FxThread.call(limitMillis, Actions.work(work));
        FxThread.idle(limitMillis);
    }
}
