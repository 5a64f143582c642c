package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ProcessGuardTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  /** The temporary directory of the JVMs, with characters that a shell reads otherwise. */
  private Path parent;

  @BeforeEach
  void makeParent(@TempDir Path directory) throws IOException {
    parent = Files.createDirectory(directory.resolve("-a 'b' $PATH *"));
  }

  /** Makes a directory with a file, says which, and ends when it is sent a line. */
  static final class Maker {
    public static void main(String[] arguments) throws Exception {
      Path made =
          new ServerDirectory(Path.of("redis-server"), false, List.of(), Map.of()).directory();
      Files.createDirectory(made.resolve("appendonlydir"));
      Files.writeString(made.resolve("appendonlydir/file"), "data");
      System.out.println("made " + made);
      var unused = System.in.read();
    }
  }

  private JavaProcess maker() {
    return JavaProcess.builder(Maker.class).jvmOptions("-Djava.io.tmpdir=" + parent).start();
  }

  private static Path made(JavaProcess by) throws InterruptedException {
    return Path.of(by.awaitLine("made ", LONG).substring("made ".length()));
  }

  private List<Path> children() throws IOException {
    try (Stream<Path> children = Files.list(parent)) {
      return children.toList();
    }
  }

  @Test
  void aDirectoryOutlivesItsJvmNeitherAfterAnEndInOrderNorAfterAKill() throws Exception {
    Files.createFile(parent.resolve("of somebody else"));
    try (JavaProcess ended = maker();
        JavaProcess killed = maker();
        JavaProcess paused = maker()) {
      Path ofEnded = made(ended);
      Path ofKilled = made(killed);
      Path ofPaused = made(paused);
      assertTrue(Files.exists(ofEnded.resolve("appendonlydir/file")));
      paused.pause();

      ended.send("end");
      assertEquals(0, ended.awaitExit(LONG));
      assertFalse(Files.exists(ofEnded.getParent()));

      killed.kill();
      await().atMost(LONG).until(() -> !Files.exists(ofKilled.getParent()));
      assertTrue(Files.exists(ofPaused.resolve("appendonlydir/file")));
      assertEquals(2, children().size());
      paused.resume();
    }
    await().atMost(LONG).until(() -> children().size() == 1);
    assertTrue(Files.exists(parent.resolve("of somebody else")));
  }
}
