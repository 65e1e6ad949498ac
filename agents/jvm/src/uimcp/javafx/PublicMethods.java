package uimcp.javafx;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import javafx.scene.control.Labeled;
import javafx.scene.layout.Pane;

/** Public methods of classes that we do not compile against: controls of libraries. */
final class PublicMethods {
    static {
        // Java lists the methods of a class when it is first asked for one, which takes milliseconds for these.
        for (Class<?> base : List.of(Labeled.class, Pane.class)) {
            declared(base, "isEditable");
        }
    }

    private PublicMethods() {}

    /**
     * Return a public method as its first public owner declares it: the class itself may not be open to us. Classes of
     * JavaFX itself are known, and looking through them would take long.
     */
    static Method find(Class<?> type, Class<?> result, String name, Class<?>... arguments) {
        for (Class<?> at = type; at != null && !at.getName().startsWith("javafx."); at = at.getSuperclass()) {
            Method found = declared(at, name, arguments);
            for (Class<?> above : at.getInterfaces()) {
                found = found == null ? find(above, result, name, arguments) : found;
            }
            if (found != null && result.isAssignableFrom(found.getReturnType())) {
                return found;
            }
        }
        return null;
    }

    private static Method declared(Class<?> type, String name, Class<?>... arguments) {
        try {
            boolean open = Modifier.isPublic(type.getModifiers()) && type.getModule().isExported(type.getPackageName(), PublicMethods.class.getModule());
            return open ? type.getMethod(name, arguments) : null;
        } catch (NoSuchMethodException absent) {
            return null;
        }
    }

    static Object call(Method method, Object owner, Object... arguments) {
        try {
            return method.invoke(owner, arguments);
        } catch (InvocationTargetException failed) {
            throw new IllegalStateException(failed.getCause());
        } catch (IllegalAccessException hidden) {
            throw new IllegalStateException(hidden);
        }
    }
}
