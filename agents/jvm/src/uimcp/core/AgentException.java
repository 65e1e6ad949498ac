package uimcp.core;

import java.util.LinkedHashMap;
import java.util.Map;
import uimcp.core.Contract.ErrorCode;

/** An error for the caller, with one of the codes in contracts/ui-error.schema.json. */
public final class AgentException extends Exception {
    final String code;
    final Map<String, Object> details = new LinkedHashMap<>();

    public AgentException(String code, String message) {
        // Crosses a socket, so its stack trace would never be read.
        super(message, null, false, false);
        this.code = code;
    }

    /** An action that a person could not do now; {@code reason} says why, for programs. */
    public static AgentException actionFailed(String reason, String message) {
        return new AgentException(ErrorCode.ACTION_FAILED, message).with("reason", reason);
    }

    public static AgentException nodeNotFound() {
        return new AgentException(ErrorCode.NODE_NOT_FOUND, "no such node");
    }

    public static AgentException invalidArgument(String message) {
        return new AgentException(ErrorCode.INVALID_ARGUMENT, message);
    }

    public boolean hasCode(String wanted) {
        return code.equals(wanted);
    }

    public boolean hasReason(String reason) {
        return reason.equals(details.get("reason"));
    }

    /** Return the uid of what lies over the target, or null if that is not the reason. */
    public String coveredBy() {
        Object by = details.get("by");
        return by instanceof Map ? String.valueOf(((Map<?, ?>) by).get("uid")) : null;
    }

    public AgentException with(String key, Object value) {
        details.put(key, value);
        return this;
    }
}
