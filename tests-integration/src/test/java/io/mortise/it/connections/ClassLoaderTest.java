package io.mortise.it.connections;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.cluster.ClusterChannels;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisCluster;
import java.io.File;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An application is undeployed from a container whose threads stay. */
@Timeout(120)
class ClassLoaderTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Test
  void aThreadThatHasLockedAndUnlockedKeepsNoClassLoader() throws Exception {
    assertNoneStays(redis.uri(), name -> redis.subscribers(name) == 1);
  }

  /** On Redis 7 and on Valkey the channels of a cluster have slots. */
  @Test
  @Tag("redis-version")
  void noClassLoaderStaysAfterLocksOfACluster() throws Exception {
    try (RedisCluster cluster = RedisCluster.start()) {
      assertNoneStays(
          String.join(",", cluster.uris()).replaceAll(",redis://", ","),
          name -> !ClusterChannels.subscribedNodes(cluster, name).isEmpty());
    }
  }

  private static void assertNoneStays(String uri, Predicate<String> isSubscribed) throws Exception {
    try (ContainerThread first = new ContainerThread();
        ContainerThread second = new ContainerThread()) {
      WeakReference<ClassLoader> application =
          AsyncCall.start(first, () -> deploy(uri, second, isSubscribed)).get();

      await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(250))
          .untilAsserted(
              () -> {
                System.gc();
                assertTrue(application.refersTo(null)); // a failed one keeps what it has compared
              });
    }
  }

  /** A thread of the container, which runs calls of the application, one after the other. */
  private static final class ContainerThread implements AsyncCall.Threads, AutoCloseable {
    private final ExecutorService executor = Executors.newSingleThreadExecutor();

    /** Starts the thread, which inherits nothing of an application. */
    ContainerThread() throws Exception {
      executor.submit(() -> {}).get();
    }

    @Override
    public Thread start(Runnable call) {
      CompletableFuture<Thread> thread = new CompletableFuture<>();
      executor.execute(
          () -> {
            thread.complete(Thread.currentThread());
            call.run();
          });
      return thread.join();
    }

    @Override
    public void close() {
      executor.shutdown();
    }
  }

  private static WeakReference<ClassLoader> deploy(
      String uri, ContainerThread second, Predicate<String> isSubscribed) throws Exception {
    try (URLClassLoader application =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Callable<Void> locking = () -> lockAndUnlock(application, uri, second, isSubscribed);
      within(application, locking);
      return new WeakReference<>(application);
    }
  }

  private static Void within(ClassLoader application, Callable<Void> call) throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader context = current.getContextClassLoader();
    try {
      current.setContextClassLoader(application);
      return call.call();
    } finally {
      current.setContextClassLoader(context);
    }
  }

  /** Locks, while the second thread waits for that lock with another client, which subscribes. */
  private static Void lockAndUnlock(
      ClassLoader application, String uri, ContainerThread second, Predicate<String> isSubscribed)
      throws Exception {
    Class<?> clients = application.loadClass("io.mortise.core.LockClient");
    Class<?> locks = application.loadClass("io.mortise.core.RedisLock");
    Method create = clients.getMethod("create", String.class);
    Constructor<?> constructor = locks.getConstructor(clients, String.class);
    try (AutoCloseable client = (AutoCloseable) create.invoke(null, uri);
        AutoCloseable other = (AutoCloseable) create.invoke(null, uri)) {
      for (int i = 0; i < 3; i++) {
        String name = Names.fresh();
        Lock lock = (Lock) constructor.newInstance(client, name);
        lock.lock();
        Lock again = (Lock) constructor.newInstance(client, name);
        again.lock();
        again.unlock();
        Lock waiting = (Lock) constructor.newInstance(other, name);
        Callable<Void> cycle = AsyncCall.cycleOf(waiting);
        AsyncCall<Void> waiter = AsyncCall.start(second, () -> within(application, cycle));
        Eventually.until("it is subscribed", () -> isSubscribed.test(name));
        waiter.awaitParked();
        lock.unlock();
        waiter.get();
      }
    }
    return null;
  }

  /** Returns the class path of this test. */
  private static URL[] classPath() throws Exception {
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.stream(path.split(File.pathSeparator))
        .filter(Predicate.not(String::isEmpty))
        .map(Path::of)
        .map(ClassLoaderTest::url)
        .toArray(URL[]::new);
  }

  private static URL url(Path path) {
    try {
      return path.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }
}
