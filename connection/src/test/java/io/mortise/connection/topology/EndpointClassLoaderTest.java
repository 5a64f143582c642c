package io.mortise.connection.topology;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An application is undeployed whose client has subscribed at a cluster with sharded channels. On
 * JDK 17 a record that was hashed or compared may keep its class loader.
 */
@Timeout(60)
class EndpointClassLoaderTest {

  /** What the application does; its own class loader loads it. */
  public static final class Application {
    private Application() {}

    /** Looks up the endpoint of a channel, as a key of a map; returns whether it is sharded. */
    public static boolean hashEndpoint(String uri) throws Exception {
      try (WorkerPool workers = new WorkerPool("test");
          Topology servers = TopologyFactory.create(uri, TestSettings.DEFAULTS, workers)) {
        new ScriptExecutor(servers, workers, TestSettings.DEFAULTS).run(TestCalls.inspect("name"));
        Topology.SubscriptionEndpoint endpoint = servers.endpointFor("channel");
        return endpoint != null
            && endpoint.isSharded()
            && endpoint.hashCode() != 0
            && endpoint.equals(servers.endpointFor("channel"));
      }
    }
  }

  @Test
  void anEndpointThatWasHashedKeepsNoClassLoader() throws Exception {
    WeakReference<ClassLoader> application;
    try (FakeCluster fake = new FakeCluster(2)) {
      application = deploy(fake.uri());
    }

    await()
        .atMost(BackgroundCall.LIVENESS)
        .pollInterval(Duration.ofMillis(100))
        .untilAsserted(
            () -> {
              System.gc();
              assertTrue(application.refersTo(null)); // a failed one keeps what it has compared
            });
  }

  private static WeakReference<ClassLoader> deploy(String uri) throws Exception {
    try (URLClassLoader application =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Object sharded =
          application
              .loadClass(Application.class.getName())
              .getMethod("hashEndpoint", String.class)
              .invoke(null, uri);
      if (!Boolean.TRUE.equals(sharded)) {
        throw new AssertionError("the channels have no slots");
      }
      return new WeakReference<>(application);
    }
  }

  /** Returns the class path of this test. */
  private static URL[] classPath() throws Exception {
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<URL> urls = new ArrayList<>();
    for (String entry : path.split(File.pathSeparator, -1)) {
      if (!entry.isEmpty()) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    return urls.toArray(URL[]::new);
  }
}
