package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class JavaProcessTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);

  /** Says what it was given, then each line it is sent, and ends with 7 when there are no more. */
  static final class Echo {
    public static void main(String[] arguments) throws Exception {
      System.out.println("arguments " + String.join(",", arguments));
      System.out.println("option " + System.getProperty("option"));
      System.err.println("variable " + System.getenv("VARIABLE"));
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); !"end".equals(line); line = in.readLine()) {
        System.out.println("echo " + line);
      }
      System.exit(7);
    }
  }

  @Test
  void talksInLinesAndEndsWithItsCode() throws Exception {
    try (JavaProcess child =
        JavaProcess.builder(Echo.class)
            .arguments("a", "b c")
            .jvmOptions("-Doption=1")
            .environment("VARIABLE", "2")
            .start()) {
      assertEquals("arguments a,b c", child.awaitLine("arguments", LONG));
      assertEquals("option 1", child.awaitLine("option", LONG));
      assertEquals("variable 2", child.awaitLine("variable", LONG));
      child.send("x");
      child.send("y");
      assertEquals("echo x", child.awaitLine("echo", LONG));
      assertEquals("echo y", child.awaitLine("echo", LONG), "each line is heard once");
      var missing = assertThrows(IllegalStateException.class, () -> child.awaitLine("echo", SHORT));
      assertTrue(missing.getMessage().contains("no line 'echo'"), missing.getMessage());
      assertTrue(missing.getMessage().contains("echo y"), missing.getMessage());
      var running = assertThrows(IllegalStateException.class, () -> child.awaitExit(SHORT));
      assertTrue(running.getMessage().contains("still runs"), running.getMessage());
      child.send("end");
      assertEquals(7, child.awaitExit(LONG));
      assertThrows(IllegalStateException.class, () -> child.awaitLine("echo", LONG));
      assertFalse(child.isRunning());
    }
  }

  @Test
  void aPausedProcessSaysNothingUntilItIsResumedAndAKilledOneIsGone() throws Exception {
    JavaProcess child = JavaProcess.start(Echo.class);
    try (child) {
      child.awaitLine("variable", LONG);
      child.pause();
      child.send("x");
      await().during(SHORT).until(() -> !child.output().contains("echo"));
      assertTrue(child.isRunning());
      child.resume();
      assertEquals("echo x", child.awaitLine("echo", LONG));
      child.pause();
      child.kill();
      assertEquals(137, child.awaitExit(LONG));
      assertThrows(IllegalStateException.class, child::resume);
    }
    assertFalse(ProcessHandle.of(child.pid()).map(ProcessHandle::isAlive).orElse(false));
  }

  @Test
  void aProcessThatKeepsTheOutputOpenDoesNotKeepTheCaller() throws Exception {
    try (JavaProcess parent = JavaProcess.start(ParentOfAnHeir.class)) {
      long heir = Long.parseLong(parent.awaitLine("heir ", LONG).substring("heir ".length()));
      try {
        await().atMost(LONG).until(() -> !parent.isRunning());
        var open = assertThrows(IllegalStateException.class, () -> parent.awaitExit(SHORT));
        assertTrue(open.getMessage().contains("keeps its output open"), open.getMessage());
      } finally {
        assertTrue(ProcessHandle.of(heir).orElseThrow().destroyForcibly());
      }
      assertEquals(0, parent.awaitExit(LONG));
    }
  }

  @Test
  void childrenDoNotOutliveTheirParent() throws Exception {
    long grandchild;
    try (JavaProcess parent = JavaProcess.start(Parent.class)) {
      grandchild = Long.parseLong(parent.awaitLine("child ", LONG).substring("child ".length()));
      Path home = Path.of(parent.awaitLine("home ", LONG).substring("home ".length()));
      parent.awaitExit(LONG);
      assertFalse(Files.exists(home));
    }
    await()
        .atMost(LONG)
        .until(() -> !ProcessHandle.of(grandchild).map(ProcessHandle::isAlive).orElse(false));
  }

  @Test
  void aKilledParentLeavesNoChildBehindNotEvenOneThatIsSuspended() throws Exception {
    List<Long> children = new ArrayList<>();
    try (JavaProcess parent = JavaProcess.start(BusyParent.class)) {
      for (String pid : parent.awaitLine("children ", LONG).split(" ", -1)) {
        if (!pid.equals("children")) {
          children.add(Long.parseLong(pid));
        }
      }
      assertEquals(3, children.stream().filter(JavaProcessTest::lives).count());
      parent.kill();
    }
    await().atMost(LONG).until(() -> children.stream().noneMatch(JavaProcessTest::lives));
  }

  /** A dead process whose new parent has not yet asked for its exit code lives no more. */
  private static boolean lives(long pid) {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    try {
      String line = Files.readString(stat);
      return !line.startsWith(") Z", line.lastIndexOf(')'));
    } catch (IOException noSuchFile) {
      return !Files.exists(Path.of("/proc", "self"))
          && ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }
  }

  /** Starts two servers, of which one is suspended, and a JVM, and waits for ever. */
  static final class BusyParent {
    public static void main(String[] arguments) throws Exception {
      RedisServer server = RedisServer.start();
      RedisServer suspended = RedisServer.start();
      suspended.pause();
      JavaProcess child = JavaProcess.start(Sleeper.class);
      child.awaitLine("sleeping", LONG);
      System.out.println("children " + server.pid() + " " + suspended.pid() + " " + child.pid());
      new CountDownLatch(1).await();
    }
  }

  /** Does not look at its standard input. */
  static final class Sleeper {
    public static void main(String[] arguments) throws Exception {
      System.out.println("sleeping");
      new CountDownLatch(1).await();
    }
  }

  /** Starts a process that inherits its output, and ends. */
  static final class ParentOfAnHeir {
    public static void main(String[] arguments) throws Exception {
      Process heir = new ProcessBuilder("sleep", "60").inheritIO().start();
      System.out.println("heir " + heir.pid());
    }
  }

  /** Starts a server and ends without closing it. */
  static final class Parent {
    public static void main(String[] arguments) {
      RedisServer server = RedisServer.start();
      System.out.println("child " + server.pid());
      System.out.println("home " + server.directory());
    }
  }
}
