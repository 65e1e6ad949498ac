package uimcp.javafx;

import java.util.Map;
import java.util.concurrent.Callable;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;
import uimcp.core.Toolkit;

/** JavaFX, as the server sees it. */
final class JavaFxToolkit implements Toolkit {
    private final NodeRefs refs = new NodeRefs();

    @Override
    public Map<String, Object> capture(RequestFields request, long limitMillis) throws AgentException {
        return Snapshot.take(refs, request, limitMillis);
    }

    @Override
    public void act(RequestFields action, long limitMillis) throws AgentException {
        if (NativePointer.handles(action)) {
            NativePointer.click(refs, action, limitMillis);
            return;
        }
        Callable<Void> work = FxThread.call(limitMillis, () -> new Actions(refs, action).prepare());
        FxThread.start(limitMillis, work);
    }

    @Override
    public void idle(long limitMillis) throws AgentException {
        FxThread.idle(limitMillis);
    }

    @Override
    public Map<String, Object> screenshot(RequestFields request, long limitMillis) throws AgentException {
        return Screenshots.take(refs, request, limitMillis);
    }

    @Override
    public Map<String, Object> elementAt(double screenX, double screenY, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> Actionability.chainAt(refs, screenX, screenY));
    }
}
