package uimcp.boot;

import java.lang.reflect.InvocationTargetException;

/** Loads an agent through the attach API of a JDK, for systems whose attach protocol we do not speak: PID JAR OPTIONS. */
public final class Attach {
    private Attach() {}

    /** Exit with 0 once the agent is loaded; otherwise print the reason to stderr. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        try {
            Class<?> machine = Class.forName("com.sun.tools.attach.VirtualMachine");
            Object joined = machine.getMethod("attach", String.class).invoke(null, arguments[0]);
            try {
                machine.getMethod("loadAgent", String.class, String.class).invoke(joined, arguments[1], arguments[2]);
            } finally {
                machine.getMethod("detach").invoke(joined);
            }
        } catch (ClassNotFoundException absent) {
            System.err.println("no jdk.attach");
            System.exit(3);
        } catch (InvocationTargetException refused) {
            System.err.println(refused.getCause());
            System.exit(4);
        }
    }
}
