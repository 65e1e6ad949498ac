package uimcp.core;

import java.util.List;
import javafx.event.Event;
import javafx.event.EventType;
import javafx.scene.Node;
import javafx.scene.input.ContextMenuEvent;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.scene.input.PickResult;
import javafx.scene.input.ScrollEvent;
import javafx.stage.Window;

/** Mouse input as events to the node under a point. */
final class MouseInput {
    private MouseInput() {}

    static void click(Actionability.HitPoint spot, MouseButton button, int count, List<String> modifiers) {
        fire(spot, MouseEvent.MOUSE_ENTERED, MouseButton.NONE, 0, modifiers);
        fire(spot, MouseEvent.MOUSE_MOVED, MouseButton.NONE, 0, modifiers);
        for (int nth = 1; nth <= count; nth++) {
            fire(spot, MouseEvent.MOUSE_PRESSED, button, nth, modifiers);
            if (button == MouseButton.SECONDARY && nth == 1) {
                contextMenu(spot);
            }
            fire(spot, MouseEvent.MOUSE_RELEASED, button, nth, modifiers);
            fire(spot, MouseEvent.MOUSE_CLICKED, button, nth, modifiers);
        }
    }

    static void fire(Actionability.HitPoint spot, EventType<MouseEvent> type, MouseButton button, int count, List<String> modifiers) {
        boolean down = type == MouseEvent.MOUSE_PRESSED || type == MouseEvent.MOUSE_DRAGGED;
        Node node = spot.node;
        var event = new MouseEvent(
                node, node, type, spot.x, spot.y, screenX(spot), screenY(spot), button, count,
                modifiers.contains("SHIFT"), modifiers.contains("CONTROL") || modifiers.contains("SHORTCUT"),
                modifiers.contains("ALT"), modifiers.contains("META"), down && button == MouseButton.PRIMARY,
                down && button == MouseButton.MIDDLE, down && button == MouseButton.SECONDARY, false, false, true,
                new PickResult(node, spot.x, spot.y));
        Event.fireEvent(node, event);
    }

    static void scroll(Actionability.HitPoint spot, double deltaX, double deltaY) {
        Node node = spot.node;
        Event.fireEvent(node, new ScrollEvent(
                node, node, ScrollEvent.SCROLL, spot.x, spot.y, screenX(spot), screenY(spot), false, false, false, false,
                false, false, deltaX, deltaY, deltaX, deltaY, ScrollEvent.HorizontalTextScrollUnits.NONE, 0,
                ScrollEvent.VerticalTextScrollUnits.NONE, 0, 0, new PickResult(node, spot.x, spot.y)));
    }

    private static void contextMenu(Actionability.HitPoint spot) {
        Event.fireEvent(spot.node, new ContextMenuEvent(
                spot.node, spot.node, ContextMenuEvent.CONTEXT_MENU_REQUESTED, spot.x, spot.y, screenX(spot), screenY(spot),
                false, new PickResult(spot.node, spot.x, spot.y)));
    }

    private static double screenX(Actionability.HitPoint spot) {
        Window window = spot.scene.getWindow();
        return spot.x + spot.scene.getX() + window.getX();
    }

    private static double screenY(Actionability.HitPoint spot) {
        Window window = spot.scene.getWindow();
        return spot.y + spot.scene.getY() + window.getY();
    }
}
