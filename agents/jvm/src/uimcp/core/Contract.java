package uimcp.core;

/** Constants of the schemas in contracts/. Written by scripts/contract.py. */
public final class Contract {
    private Contract() {}

    /** Codes of errors: ui-error.schema.json. */
    public static final class ErrorCode {
        private ErrorCode() {}

        public static final String NOT_ENABLED = "MCP_UI_NOT_ENABLED";
        public static final String NO_STAGES = "MCP_UI_NO_STAGES";
        public static final String NODE_NOT_FOUND = "MCP_UI_NODE_NOT_FOUND";
        public static final String STALE_REF = "MCP_UI_STALE_REF";
        public static final String ACTION_FAILED = "MCP_UI_ACTION_FAILED";
        public static final String TIMEOUT = "MCP_UI_TIMEOUT";
        public static final String INTERNAL = "MCP_UI_INTERNAL";
        public static final String INVALID_ARGUMENT = "MCP_UI_INVALID_ARGUMENT";
    }

    /** Fields of a record: records.schema.json. */
    public static final class RecordField {
        private RecordField() {}

        public static final String UID = "u";
        public static final String TYPE = "t";
        /** Position of the parent in this list; absent for the root. */
        public static final String PARENT = "p";
        /** Path from the parent: Type[n], several joined by / when levels are hidden. */
        public static final String PATH = "n";
        public static final String MODULE = "m";
        public static final String ID = "i";
        public static final String STYLE_CLASS = "c";
        public static final String PSEUDO_CLASS = "s";
        /** Absent unless the node itself is invisible. */
        public static final String VISIBLE = "v";
        /** Absent unless an ancestor is invisible. */
        public static final String SHOWN = "w";
        public static final String MANAGED = "g";
        /** Disabled, inherited included. */
        public static final String DISABLED = "x";
        public static final String OPACITY = "o";
        /** A person operates it. */
        public static final String OPERABLE = "a";
        /** The id was made up by a library. */
        public static final String GENERATED_ID = "ig";
        /** Only lays out other nodes. */
        public static final String PLAIN = "y";
        public static final String LABEL = "l";
        public static final String PROMPT = "lp";
        public static final String VALUE_TEXT = "vt";
        public static final String SELECTED = "vs";
        public static final String CHECKED = "vc";
        public static final String MASKED = "k";
        public static final String BOUNDS_IN_PARENT = "bp";
        public static final String BOUNDS_IN_SCENE = "bs";
        /** On screen; absent where it is the same as the bounds in the scene. */
        public static final String BOUNDS_ON_SCREEN = "sc";
        public static final String ROLE = "ro";
        /** Role set by the author. */
        public static final String AUTHOR_ROLE = "er";
        /** Accessible help. */
        public static final String HELP = "he";
        public static final String TOOLTIP = "tt";
        public static final String USER_DATA = "ud";
        public static final String VIRTUALIZATION = "z";
        /** Whether a person could click it: inViewport, coveredBy, behindModal. */
        public static final String REACH = "re";
        /** Children left out by depth. */
        public static final String CHILDREN_TRUNCATED = "ct";
        /** Matched by the css selector of the request. */
        public static final String MATCHED = "q";
        /** Further fields for the node. */
        public static final String MORE = "e";
    }
}
