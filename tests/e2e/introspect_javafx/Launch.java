import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Starts the demo in the ways programs load JavaFX: MODE PATHS MAIN. */
public class Launch {
    public static void main(String[] arguments) throws Exception {
        String[] paths = arguments[1].split(":");
        switch (arguments[0]) {
            case "plain":
                run(Class.forName(arguments[2]));
                break;
            case "layer":
                run(layer(paths, arguments[2]));
                break;
            case "loader":
                run(loader(paths).loadClass(arguments[2]));
                break;
            default:
                System.out.println("READY");
                Thread.sleep(60_000);
        }
    }

    private static void run(Class<?> main) throws Exception {
        Thread.currentThread().setContextClassLoader(main.getClassLoader());
        main.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }

    private static Class<?> layer(String[] paths, String main) throws Exception {
        var finder = ModuleFinder.of(List.of(paths).stream().map(Path::of).toArray(Path[]::new));
        var parent = ModuleLayer.boot();
        Configuration found = parent.configuration().resolve(finder, ModuleFinder.of(), Set.of("demo"));
        ModuleLayer layer = parent.defineModulesWithOneLoader(found, ClassLoader.getPlatformClassLoader());
        return layer.findLoader("demo").loadClass(main);
    }

    private static ClassLoader loader(String[] paths) throws Exception {
        var urls = new ArrayList<URL>();
        for (String path : paths) {
            urls.add(Path.of(path).toUri().toURL());
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }
}
