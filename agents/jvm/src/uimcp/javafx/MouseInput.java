package uimcp.javafx;

import java.util.List;
import javafx.event.Event;
import javafx.event.EventType;
import javafx.scene.Node;
import javafx.scene.input.ContextMenuEvent;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.scene.input.PickResult;
import javafx.scene.input.ScrollEvent;

/** Mouse input as events sent to the node at a point. */
final class MouseInput {
    private MouseInput() {}

    static void click(HitPoint point, MouseButton button, int count, List<String> modifiers) {
        fire(point, MouseEvent.MOUSE_ENTERED, MouseButton.NONE, 0, modifiers);
        fire(point, MouseEvent.MOUSE_MOVED, MouseButton.NONE, 0, modifiers);
        for (int nth = 1; nth <= count; nth++) {
            fire(point, MouseEvent.MOUSE_PRESSED, button, nth, modifiers);
            if (button == MouseButton.SECONDARY && nth == 1) {
                contextMenu(point);
            }
            fire(point, MouseEvent.MOUSE_RELEASED, button, nth, modifiers);
            fire(point, MouseEvent.MOUSE_CLICKED, button, nth, modifiers);
        }
    }

    static void fire(HitPoint point, EventType<MouseEvent> type, MouseButton button, int count, List<String> modifiers) {
        boolean down = type == MouseEvent.MOUSE_PRESSED || type == MouseEvent.MOUSE_DRAGGED;
        Node node = point.node;
        // Without a source JavaFX computes x and y in the coordinates of each node that gets the event.
        var event = new MouseEvent(
                null, node, type, point.x, point.y, point.screenX(), point.screenY(), button, count,
                modifiers.contains("SHIFT"), modifiers.contains("CONTROL") || modifiers.contains("SHORTCUT"),
                modifiers.contains("ALT"), modifiers.contains("META"), down && button == MouseButton.PRIMARY,
                down && button == MouseButton.MIDDLE, down && button == MouseButton.SECONDARY, false, false, true,
                new PickResult(node, point.x, point.y));
        Event.fireEvent(node, event);
    }

    static void scroll(HitPoint point, double deltaX, double deltaY) {
        Node node = point.node;
        Event.fireEvent(node, new ScrollEvent(
                null, node, ScrollEvent.SCROLL, point.x, point.y, point.screenX(), point.screenY(), false, false, false,
                false, false, false, deltaX, deltaY, deltaX, deltaY, ScrollEvent.HorizontalTextScrollUnits.NONE, 0,
                ScrollEvent.VerticalTextScrollUnits.NONE, 0, 0, new PickResult(node, point.x, point.y)));
    }

    private static void contextMenu(HitPoint point) {
        Event.fireEvent(point.node, new ContextMenuEvent(
                null, point.node, ContextMenuEvent.CONTEXT_MENU_REQUESTED, point.x, point.y, point.screenX(),
                point.screenY(), false, new PickResult(point.node, point.x, point.y)));
    }
}
