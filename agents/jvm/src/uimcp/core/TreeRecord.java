package uimcp.core;

/** A node of a capture, which may come to lie in the tree of another toolkit. */
public interface TreeRecord extends JsonWriter.Item {
    /** Return the node itself. */
    Object node();

    String uid();

    /** Return the index of the record above, or -1. */
    int parent();

    /** Return the part of its path that the node adds to that of the record above. */
    String segment();

    /** Return x, y, width and height in the scene, or null if they were not asked for. */
    double[] boundsInScene();

    /** Count parents from {@code offset} on; the topmost node goes below the record {@code host}. All bounds move. */
    void move(int offset, int host, double x, double y);
}
