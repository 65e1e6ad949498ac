package uimcp.core;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Answers requests on a loopback socket: a line with the token, then a line of JSON each way. */
final class Server implements Consumer<Map<String, String>> {
    private static final int LONGEST_TOKEN = 200;

    private final String token = secret();
    private final ServerSocket socket;
    private final Refs refs;
    private volatile boolean enabled = Boolean.getBoolean("mcp.ui");
    private volatile boolean readOnly;

    Server() throws IOException {
        socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        refs = new Refs(letters(ProcessHandle.current().pid()));
        var accepting = new Thread(this::accept, "ui-mcp");
        accepting.setDaemon(true);
        accepting.start();
    }

    Refs refs() {
        return refs;
    }

    /** Take over the options of an attach, and write down where we listen. */
    @Override
    public void accept(Map<String, String> options) {
        enabled |= "true".equals(options.get("enabled"));
        readOnly = "true".equals(options.get("readonly"));
        String file = options.get("file");
        if (file == null) {
            System.err.println("ui-mcp: port " + socket.getLocalPort() + " token " + token);
            return;
        }
        try {
            publish(Path.of(file));
        } catch (IOException unwritable) {
            System.err.println("ui-mcp: cannot write " + file + ": " + unwritable);
        }
    }

    private void publish(Path file) throws IOException {
        var facts = new LinkedHashMap<String, Object>();
        facts.put("port", socket.getLocalPort());
        facts.put("pid", ProcessHandle.current().pid());
        facts.put("token", token);
        Path written = Path.of(file + ".new");
        Files.deleteIfExists(written);
        if (written.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(written, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        try (OutputStream out = Files.newOutputStream(written)) {
            new JsonWriter(out).line(facts);
        }
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void accept() {
        while (true) {
            try {
                Socket client = socket.accept();
                var serving = new Thread(() -> serve(client), "ui-mcp client");
                serving.setDaemon(true);
                serving.start();
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client; var in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
            client.setTcpNoDelay(true);
            client.setSoTimeout(5000);
            if (!knows(in)) {
                return;
            }
            client.setSoTimeout(0);
            var out = new JsonWriter(client.getOutputStream());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.line(answer(line));
            }
        } catch (IOException gone) {
            // The caller left; there is nobody to tell.
        }
    }

    private boolean knows(BufferedReader in) throws IOException {
        var given = new StringBuilder();
        for (int c = in.read(); c != '\n' && c != -1 && given.length() < LONGEST_TOKEN; c = in.read()) {
            given.append((char) c);
        }
        return MessageDigest.isEqual(given.toString().getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> answer(String line) {
        var answer = new LinkedHashMap<String, Object>();
        try {
            var request = (Map<String, Object>) JsonReader.read(line);
            answer.put("id", request.get("id"));
            answer.put("ok", perform(request));
        } catch (AgentException told) {
            answer.put("error", error(told.code, told.getMessage(), told.details));
        } catch (RuntimeException | LinkageError unexpected) {
            answer.put("error", error("MCP_UI_INTERNAL", unexpected.toString(), Map.of()));
        }
        return answer;
    }

    private Map<String, Object> perform(Map<String, Object> request) throws AgentException {
        if (!enabled) {
            throw new AgentException("MCP_UI_NOT_ENABLED", "This program was not started with -Dmcp.ui=true").with("reason", "FLAG_OFF");
        }
        long limit = (long) RequestFields.number(request, "timeoutMs", 5000);
        switch (String.valueOf(request.get("op"))) {
            case "capture": return Snapshot.take(refs, RequestFields.map(request, "ask"), limit);
            case "act": return act(RequestFields.map(request, "action"), limit);
            case "idle":
                FxThread.idle(limit);
                return Map.of();
            case "pixels": return Screenshots.take(refs, RequestFields.map(request, "photo"), limit);
            case "at": return FxThread.call(limit, () -> Actionability.chain(refs, RequestFields.number(request, "x", -1), RequestFields.number(request, "y", -1)));
            case "work": return Slices.drain();
            default: throw AgentException.wrong("no such request");
        }
    }

    private Map<String, Object> act(Map<String, Object> action, long limit) throws AgentException {
        if (readOnly) {
            throw new AgentException("MCP_UI_NOT_ENABLED", "This program may be looked at, not operated").with("reason", "READ_ONLY");
        }
        if (NativePointer.means(action)) {
            NativePointer.click(refs, action, limit);
            return Map.of();
        }
        Callable<Void> work = FxThread.call(limit, () -> new Actions(refs, action).prepare());
        FxThread.act(limit, work);
        return Map.of();
    }

    private static Map<String, Object> error(String code, String message, Map<String, Object> details) {
        var error = new LinkedHashMap<String, Object>();
        error.put("code", code);
        error.put("message", message);
        error.put("details", details);
        return error;
    }

    private static String secret() {
        var random = new SecureRandom();
        var text = new StringBuilder();
        for (int i = 0; i < 32; i++) {
            text.append(Character.forDigit(random.nextInt(16), 16));
        }
        return text.toString();
    }

    /** Two letters from the process, so that an old uid does not name something in another run. */
    private static String letters(long pid) {
        String letters = "abcdefghkmnpqstuvwxyz";
        int size = letters.length();
        return "" + letters.charAt((int) (pid / size % size)) + letters.charAt((int) (pid % size));
    }
}
