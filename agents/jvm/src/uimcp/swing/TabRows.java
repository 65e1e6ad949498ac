package uimcp.swing;

import java.awt.Point;
import java.awt.Rectangle;
import javax.swing.JTabbedPane;

/** The tabs of a tabbed pane as rows; they are no components either. */
final class TabRows extends SwingRows {
    private final JTabbedPane tabs;

    TabRows(JTabbedPane tabs) {
        super(tabs);
        this.tabs = tabs;
    }

    @Override
    String kind() {
        return "tabs";
    }

    @Override
    int count() {
        return tabs.getTabCount();
    }

    @Override
    Object item(int index) {
        return tabs.getTitleAt(index);
    }

    @Override
    Rectangle bounds(int index, int column) {
        return tabs.getBoundsAt(index);
    }

    @Override
    String text(int index, int column) {
        String title = tabs.getTitleAt(index);
        return Texts.plain(title == null || title.isEmpty() ? tabs.getToolTipTextAt(index) : title);
    }

    @Override
    int[] selected() {
        return tabs.getSelectedIndex() < 0 ? new int[0] : new int[] {tabs.getSelectedIndex()};
    }

    @Override
    void select(int index) {
        tabs.setSelectedIndex(index);
    }

    @Override
    int at(Point point) {
        return point.y == tabs.getVisibleRect().y ? 0 : count() - 1;
    }
}
