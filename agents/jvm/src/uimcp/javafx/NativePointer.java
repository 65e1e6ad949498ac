package uimcp.javafx;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javafx.event.EventHandler;
import javafx.geometry.Point2D;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.scene.robot.Robot;
import javafx.stage.Stage;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;

/** Clicks with the real mouse pointer, one step per pulse, because the window system acts asynchronously. */
final class NativePointer {
    private static final int MAX_POLLS = 40;
    private static final int DRAG_STEPS = 10;
    private static final long PULSE_TIMEOUT_MILLIS = 5000;

    private NativePointer() {}

    /** Return whether the action asks for the real pointer. */
    static boolean handles(RequestFields action) {
        return action.flag("native") && List.of("click", "doubleClick", "drag").contains(String.valueOf(action.get("type")));
    }

    static void perform(NodeRefs refs, RequestFields action, long limitMillis) throws AgentException {
        if ("drag".equals(action.get("type"))) {
            drag(refs, action, limitMillis);
        } else {
            click(refs, action, limitMillis);
        }
    }

    /** Press, move in steps and release, each in a pulse of its own; the drop itself is the window system's work. */
    private static void drag(NodeRefs refs, RequestFields action, long limitMillis) throws AgentException {
        var ends = new Actions(refs, action);
        Window window = FxThread.call(limitMillis, () -> raise(ends.end("from", action.flag("force")).scene.getWindow()));
        settle(window, limitMillis);
        Robot robot = FxThread.call(limitMillis, Robot::new);
        HitPoint from = FxThread.call(limitMillis, () -> ends.end("from", true));
        HitPoint to = FxThread.call(limitMillis, () -> ends.end("to", true));
        step(limitMillis, () -> move(robot, from));
        step(limitMillis, () -> robot.mousePress(MouseButton.PRIMARY));
        try {
            for (int nth = 1; nth <= DRAG_STEPS; nth++) {
                double x = from.screenX() + (to.screenX() - from.screenX()) * nth / DRAG_STEPS;
                double y = from.screenY() + (to.screenY() - from.screenY()) * nth / DRAG_STEPS;
                step(limitMillis, () -> robot.mouseMove(x, y));
            }
            FxThread.idle(limitMillis);
        } finally {
            step(limitMillis, () -> robot.mouseRelease(MouseButton.PRIMARY));
        }
        FxThread.idle(limitMillis);
    }

    private static void click(NodeRefs refs, RequestFields action, long limitMillis) throws AgentException {
        int count = "doubleClick".equals(action.get("type")) ? 2 : (int) action.number("clickCount", 1);
        MouseButton button = Actions.button(action);
        Window window = FxThread.call(limitMillis, () -> raise(new Actions(refs, action).hitPoint().scene.getWindow()));
        settle(window, limitMillis);
        Robot robot = FxThread.call(limitMillis, Robot::new);
        Point2D before = FxThread.call(limitMillis, robot::getMousePosition);
        step(limitMillis, () -> move(robot, new Actions(refs, action).hitPoint()));
        var pressed = new CountDownLatch(count);
        EventHandler<MouseEvent> onPress = press -> pressed.countDown();
        FxThread.call(limitMillis, Actions.work(() -> window.addEventFilter(MouseEvent.MOUSE_PRESSED, onPress)));
        try {
            for (int nth = 0; nth < count; nth++) {
                long left = count - nth - 1;
                step(limitMillis, () -> robot.mousePress(button));
                await(pressed, left);
                step(limitMillis, () -> robot.mouseRelease(button));
            }
            step(limitMillis, () -> robot.mouseMove(before));
        } finally {
            FxThread.call(limitMillis, Actions.work(() -> window.removeEventFilter(MouseEvent.MOUSE_PRESSED, onPress)));
        }
        if (pressed.getCount() > 0) {
            throw AgentException.actionFailed("NOT_RECEIVED", "The window did not get the click");
        }
    }

    /** Wait for the press to come back through the window system. */
    private static void await(CountDownLatch pressed, long left) throws AgentException {
        for (int poll = 0; poll < MAX_POLLS && pressed.getCount() > left; poll++) {
            FxThread.idle(PULSE_TIMEOUT_MILLIS);
        }
    }

    /** Bring a window to the front: a click on one in the background may only raise it. */
    private static Window raise(Window window) {
        if (window instanceof Stage && !window.isFocused()) {
            ((Stage) window).toFront();
            window.requestFocus();
        }
        return window;
    }

    /** Poll until the window is focused and has had the same position twice: the window manager may still move it. */
    private static void settle(Window window, long limitMillis) throws AgentException {
        double[] last = null;
        for (int poll = 0; poll < MAX_POLLS; poll++) {
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

    private static void move(Robot robot, HitPoint point) {
        robot.mouseMove(point.screenX(), point.screenY());
    }

    private static void step(long limitMillis, Actions.Work work) throws AgentException {
        FxThread.call(limitMillis, Actions.work(work));
        FxThread.idle(limitMillis);
    }
}
