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
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.Contract.ErrorCode;

/** Answers requests on a loopback socket: a line with the token, then a line of JSON each way. */
public final class Server implements Consumer<Map<String, String>> {
    private static final int MAX_TOKEN = 200;
    private static final int TOKEN_TIMEOUT_MILLIS = 5000;
    private static final double DEFAULT_LIMIT_MILLIS = 5000;

    private final Toolkit toolkit;
    private final String token = randomToken();
    private final ServerSocket socket;
    private volatile boolean enabled = Boolean.getBoolean("mcp.ui");
    private volatile boolean readOnly;
    /** A recording, and the thread of the client that asked for it. */
    private volatile PersonWatch watch;
    private volatile Thread watcher;

    /** Start listening on a free port. */
    public Server(Toolkit toolkit) throws IOException {
        this.toolkit = toolkit;
        socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        var accepting = new Thread(this::acceptClients, "ui-mcp");
        accepting.setDaemon(true);
        accepting.start();
    }

    /** Apply the options of an attach, and write port and token to the file they name. */
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
        var address = new LinkedHashMap<String, Object>();
        address.put("port", socket.getLocalPort());
        address.put("pid", ProcessHandle.current().pid());
        address.put("token", token);
        Path written = Path.of(file + ".new");
        Files.deleteIfExists(written);
        if (written.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(written, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        try (OutputStream out = Files.newOutputStream(written)) {
            new JsonWriter(out).line(address);
        }
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void acceptClients() {
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
            client.setSoTimeout(TOKEN_TIMEOUT_MILLIS);
            if (!sentToken(in)) {
                return;
            }
            client.setSoTimeout(0);
            var out = new JsonWriter(client.getOutputStream());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.line(answer(line));
            }
        } catch (IOException disconnected) {
            // The client is gone, so there is no one left to report it to.
        } finally {
            if (watcher == Thread.currentThread()) {
                abandon();
            }
        }
    }

    /** Read the first line by characters: without the token, no client may make us buffer a long one. */
    private boolean sentToken(BufferedReader in) throws IOException {
        var given = new StringBuilder();
        for (int c = in.read(); c != '\n' && c != -1 && given.length() < MAX_TOKEN; c = in.read()) {
            given.append((char) c);
        }
        return MessageDigest.isEqual(given.toString().getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }

    private Map<String, Object> answer(String line) {
        var answer = new LinkedHashMap<String, Object>();
        try {
            var request = RequestFields.parse(line);
            answer.put("id", request.get("id"));
            answer.put("ok", perform(request));
        } catch (AgentException failed) {
            answer.put("error", error(failed.code, failed.getMessage(), failed.details));
        } catch (RuntimeException | LinkageError unexpected) {
            answer.put("error", error(ErrorCode.INTERNAL, "The agent failed: " + unexpected.getClass().getSimpleName(), Map.of()));
        }
        return answer;
    }

    private Map<String, Object> perform(RequestFields request) throws AgentException {
        if (!enabled) {
            throw new AgentException(ErrorCode.NOT_ENABLED, "This program was not started with -Dmcp.ui=true").with("reason", "FLAG_OFF");
        }
        long limit = (long) request.number("timeoutMs", DEFAULT_LIMIT_MILLIS);
        switch (String.valueOf(request.get("op"))) {
            case "capture": return toolkit.capture(request.object("ask"), limit);
            case "act":
                act(request.object("action"), limit);
                return Map.of();
            case "tell":
                toolkit.tell(request.strings("rows"));
                return Map.of();
            case "idle":
                unwatched(() -> toolkit.idle(limit));
                return Map.of();
            case "watch":
                watch(request.object("ask"), limit);
                return Map.of();
            case "noticed": return watch == null ? Map.of("events", List.of(), "more", false) : watch.drain();
            case "pixels": return toolkit.screenshot(request.object("photo"), limit);
            case "at": return toolkit.elementAt(request.number("x", -1), request.number("y", -1), limit);
            case "work": return Slices.drain();
            default: throw AgentException.invalidArgument("no such request");
        }
    }

    private void act(RequestFields action, long limit) throws AgentException {
        if (readOnly) {
            throw new AgentException(ErrorCode.NOT_ENABLED, "This program may be looked at, not operated").with("reason", "READ_ONLY");
        }
        unwatched(() -> toolkit.act(action, limit));
    }

    private interface Doing {
        void run() throws AgentException;
    }

    /** Do something that is no person's doing. */
    private void unwatched(Doing work) throws AgentException {
        PersonWatch current = watch;
        if (current == null) {
            work.run();
            return;
        }
        current.pause();
        try {
            work.run();
        } finally {
            current.resume();
        }
    }

    /** Record what a person does, until the next call; without {@code ask} no longer. */
    private synchronized void watch(RequestFields ask, long limit) throws AgentException {
        if (watch != null) {
            watch.stop();
            watch = null;
            toolkit.watch(null, limit);
        }
        if (ask != null) {
            var begun = new PersonWatch(toolkit, ask);
            begun.start();
            toolkit.watch(begun, limit);
            watch = begun;
            watcher = Thread.currentThread();
        }
    }

    private void abandon() {
        try {
            watch(null, (long) DEFAULT_LIMIT_MILLIS);
        } catch (AgentException unanswered) {
            // The recording has ended; its listeners tell nothing any more.
        }
    }

    private static Map<String, Object> error(String code, String message, Map<String, Object> details) {
        var error = new LinkedHashMap<String, Object>();
        error.put("code", code);
        error.put("message", message);
        error.put("details", details);
        return error;
    }

    private static String randomToken() {
        var random = new SecureRandom();
        var text = new StringBuilder();
        for (int i = 0; i < 32; i++) {
            text.append(Character.forDigit(random.nextInt(16), 16));
        }
        return text.toString();
    }
}
