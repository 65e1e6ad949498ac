package uimcp.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** Something the caller is told, with one of the contract's codes. */
final class AgentException extends Exception {
    final String code;
    final Map<String, Object> details = new LinkedHashMap<>();

    AgentException(String code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    static AgentException refused(String reason, String message) {
        return new AgentException("MCP_UI_ACTION_FAILED", message).with("reason", reason);
    }

    static AgentException missing() {
        return new AgentException("MCP_UI_NODE_NOT_FOUND", "no such node");
    }

    static AgentException wrong(String message) {
        return new AgentException("MCP_UI_INVALID_ARGUMENT", message);
    }

    AgentException with(String key, Object value) {
        details.put(key, value);
        return this;
    }
}
