package io.mortise.it.connections;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An application is undeployed from a container whose threads stay. */
@Timeout(120)
class ClassLoaderTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Test
  void aThreadThatHasLockedAndUnlockedKeepsNoClassLoader() throws Exception {
    ExecutorService container = Executors.newFixedThreadPool(1);
    try {
      WeakReference<ClassLoader> application = container.submit(ClassLoaderTest::deploy).get();

      await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(250))
          .untilAsserted(
              () -> {
                System.gc();
                assertNull(application.get());
              });
    } finally {
      container.shutdown();
    }
  }

  private static WeakReference<ClassLoader> deploy() throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader context = current.getContextClassLoader();
    try (URLClassLoader application =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      current.setContextClassLoader(application);
      lockAndUnlock(application);
      return new WeakReference<>(application);
    } finally {
      current.setContextClassLoader(context);
    }
  }

  private static void lockAndUnlock(ClassLoader application) throws Exception {
    Class<?> clients = application.loadClass("io.mortise.core.LockClient");
    Class<?> locks = application.loadClass("io.mortise.core.RedisLock");
    try (AutoCloseable client =
        (AutoCloseable) clients.getMethod("create", String.class).invoke(null, redis.uri())) {
      for (int i = 0; i < 3; i++) {
        Lock lock =
            (Lock) locks.getConstructor(clients, String.class).newInstance(client, Names.fresh());
        lock.lock();
        lock.unlock();
      }
    }
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
