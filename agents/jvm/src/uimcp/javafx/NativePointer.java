package uimcp.javafx;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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
    /** Points of the screen that are whole pixels in the window system may differ by this from ours. */
    private static final double NEAR = 2;
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
        arrive(robot, screenPoint(from), limitMillis);
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
        Point2D goal = FxThread.call(limitMillis, () -> screenPoint(new Actions(refs, action).hitPoint()));
        arrive(robot, goal, limitMillis);
        var received = new Received();
        FxThread.call(limitMillis, Actions.work(() -> window.addEventFilter(MouseEvent.ANY, received)));
        try {
            for (int nth = 1; nth <= count; nth++) {
                step(limitMillis, () -> robot.mousePress(button));
                await(received.presses, nth);
                step(limitMillis, () -> robot.mouseRelease(button));
                // The click happens with the release: until that is back, a snapshot shows the state of before.
                await(received.releases, nth);
            }
            step(limitMillis, () -> robot.mouseMove(before));
        } finally {
            FxThread.call(limitMillis, Actions.work(() -> window.removeEventFilter(MouseEvent.ANY, received)));
        }
        received.require(count, goal);
    }

    /** Move the pointer and wait until the window system says that it is there. */
    private static void arrive(Robot robot, Point2D goal, long limitMillis) throws AgentException {
        step(limitMillis, () -> robot.mouseMove(goal));
        for (int poll = 0; poll < MAX_POLLS && FxThread.call(limitMillis, robot::getMousePosition).distance(goal) > NEAR; poll++) {
            FxThread.idle(limitMillis);
        }
    }

    /** What came back through the window system: how many presses and releases, and where the last press was. */
    private static final class Received implements EventHandler<MouseEvent> {
        final AtomicInteger presses = new AtomicInteger();
        final AtomicInteger releases = new AtomicInteger();
        private volatile Point2D pressed;

        @Override
        public void handle(MouseEvent event) {
            if (event.getEventType() == MouseEvent.MOUSE_PRESSED) {
                pressed = new Point2D(event.getScreenX(), event.getScreenY());
                presses.incrementAndGet();
            } else if (event.getEventType() == MouseEvent.MOUSE_RELEASED) {
                releases.incrementAndGet();
            }
        }

        void require(int count, Point2D goal) throws AgentException {
            if (presses.get() < count) {
                throw AgentException.actionFailed("NOT_RECEIVED", "The window did not get the click");
            }
            if (pressed.distance(goal) > NEAR) {
                throw AgentException.actionFailed("NOT_RECEIVED", "Another pointer moved: the click arrived elsewhere")
                        .with("x", pressed.getX()).with("y", pressed.getY());
            }
        }
    }

    /** Wait for a press or release to come back through the window system. */
    private static void await(AtomicInteger received, int wanted) throws AgentException {
        for (int poll = 0; poll < MAX_POLLS && received.get() < wanted; poll++) {
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

    private static Point2D screenPoint(HitPoint point) {
        return new Point2D(point.screenX(), point.screenY());
    }

    private static void step(long limitMillis, Actions.Work work) throws AgentException {
        FxThread.call(limitMillis, Actions.work(work));
        FxThread.idle(limitMillis);
    }
}
