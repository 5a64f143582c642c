package com.example.springbootservice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.RedisServer;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The service as a process that is asked to end while it sells. */
@Timeout(120)
class ShutdownTest {
  private static final int CALLERS = 8;

  @Test
  void noSaleIsLostAndNoLockIsLeft(@TempDir Path directory) throws Exception {
    // By default H2 closes the database by itself when the JVM is asked to end, below what still
    // runs.
    String database =
        "jdbc:h2:file:" + directory.resolve("shop").toAbsolutePath() + ";DB_CLOSE_ON_EXIT=FALSE";
    int port = freePort();
    try (RedisServer redis = RedisServer.start()) {
      Process service = start(directory, port, redis.uri(), database);
      AtomicInteger sold = new AtomicInteger();
      Queue<Integer> failed = new ConcurrentLinkedQueue<>();
      ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
      try {
        awaitAnswer(port, service, directory);
        for (int caller = 0; caller < CALLERS; caller++) {
          callers.execute(() -> sellUntilRefused(port, sold, failed));
        }
        while (sold.get() < 30) {
          assertTrue(service.isAlive(), "the service ended by itself");
          TimeUnit.MILLISECONDS.sleep(1);
        }
        service.destroy(); // SIGTERM
        assertTrue(service.waitFor(60, TimeUnit.SECONDS), "it did not end");
        callers.shutdown();
        assertTrue(callers.awaitTermination(30, TimeUnit.SECONDS), "callers wait");
      } finally {
        callers.shutdownNow();
        service.destroyForcibly().waitFor();
      }

      int left = amount(database);
      System.out.printf("sold %d, left %d of 200%n", sold.get(), left);
      assertEquals(List.of(), List.copyOf(failed), "each request that was taken was served");
      assertEquals(200 - sold.get(), left);
      assertEquals(0L, redis.command("EXISTS", "stock:shoe"));
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static Process start(Path directory, int port, String redis, String database)
      throws IOException {
    return new ProcessBuilder(
            System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
            "-cp",
            System.getProperty("java.class.path"),
            ShopApplication.class.getName(),
            "--server.port=" + port,
            "--mortise.redis.uri=" + redis,
            "--spring.datasource.url=" + database,
            "--spring.datasource.username=sa",
            "--spring.sql.init.mode=always")
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  private static void awaitAnswer(int port, Process service, Path directory) throws Exception {
    while (true) {
      try {
        if (post(port, "nothing").statusCode() > 0) {
          return;
        }
      } catch (IOException e) {
        assertTrue(service.isAlive(), () -> read(directory.resolve("output")));
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Until the service takes no more requests; what it has taken it answers. */
  private static void sellUntilRefused(int port, AtomicInteger sold, Queue<Integer> failed) {
    try {
      HttpResponse<String> sale = post(port, "shoe");
      while (sale.statusCode() == 200) {
        if (!sale.body().equals("-1")) { // sold out
          sold.incrementAndGet();
        }
        sale = post(port, "shoe");
      }
      failed.add(sale.statusCode());
    } catch (IOException | InterruptedException e) {
      // the service has ended
    }
  }

  private static HttpResponse<String> post(int port, String article)
      throws IOException, InterruptedException {
    // A connection of its own: one that is kept may be closed just as it is used again.
    HttpClient http = HttpClient.newHttpClient();
    URI uri = URI.create("http://localhost:" + port + "/sales/" + article);
    HttpRequest request = HttpRequest.newBuilder(uri).POST(BodyPublishers.noBody()).build();
    return http.send(request, BodyHandlers.ofString());
  }

  private static int amount(String database) throws Exception {
    try (var connection = DriverManager.getConnection(database, "sa", "");
        var result =
            connection
                .createStatement()
                .executeQuery("SELECT amount FROM stock WHERE article = 'shoe'")) {
      assertTrue(result.next());
      return result.getInt(1);
    }
  }
}
