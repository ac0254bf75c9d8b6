package wisdomagent;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/** A real OpenSearch node on loopback, without the distribution: {@code LocalNode HOME PORT [setting=value ...]}. For tests, never for production. */
public final class LocalNode {
    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]).toAbsolutePath();
        int port = Integer.parseInt(args[1]);
        Settings.Builder settings = Settings.builder()
            .put("path.home", home)
            .put("path.data", home.resolve("data"))
            .put("path.logs", home.resolve("logs"))
            .put("cluster.name", "wisdomagent-local")
            .put("node.name", "node-" + port)
            .put("network.host", "127.0.0.1")
            .put("http.port", port)
            .put("transport.port", port + 100)
            .put("action.auto_create_index", false)
            .put("action.destructive_requires_name", true);
        for (int i = 2; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            settings.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
        if (settings.get("discovery.seed_hosts") == null) {
            settings.put("discovery.type", "single-node");
        }
        Settings wanted = settings.build();
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            wanted, Map.of(), home.resolve("config"), () -> wanted.get("node.name"));

        Node node = new ClasspathNode(environment);
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception e) {
                e.printStackTrace();
            } finally {
                stopped.countDown();
            }
        }));
        node.start();
        stopWith(System.getProperty("wisdomagent.owner"));
        stopped.await();
    }

    /** Exits when the owning process is gone, so that a killed test run leaves no node behind. */
    private static void stopWith(String owner) {
        if (owner == null) {
            return;
        }
        ProcessHandle.of(Long.parseLong(owner)).ifPresentOrElse(
            process -> process.onExit().thenRun(() -> System.exit(0)),
            () -> System.exit(0));
    }
}
