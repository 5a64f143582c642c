package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TemporaryDirectoryTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir Path parent;

  /** Makes a directory with a file, says which, and ends when it is sent a line. */
  static final class Maker {
    public static void main(String[] arguments) throws Exception {
      Path made = TemporaryDirectory.create().path();
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

  @Test
  void aDirectoryOutlivesNeitherItsJvmNorTheNextOneAfterAKill() throws Exception {
    try (JavaProcess ended = maker();
        JavaProcess killed = maker();
        JavaProcess paused = maker()) {
      Path ofEnded = made(ended);
      Path ofKilled = made(killed);
      Path ofPaused = made(paused);
      ended.send("end");
      assertEquals(0, ended.awaitExit(LONG));
      killed.kill();
      paused.pause();
      assertFalse(Files.exists(ofEnded));
      assertTrue(Files.exists(ofKilled));

      try (JavaProcess next = maker()) {
        Path ofNext = made(next);

        assertFalse(Files.exists(ofKilled));
        assertTrue(Files.exists(ofPaused.resolve("appendonlydir/file")));
        assertTrue(Files.exists(ofNext));
      }
      paused.resume();
    }
  }

  /** Others may have made directories and files of these names. */
  @Test
  void aDirectoryWithoutAMarkAndALinkAreLeftAlone() throws Exception {
    Path unmarked = Files.createDirectory(parent.resolve("mortise-redis-1"));
    Path elsewhere = Files.createDirectory(parent.resolve("elsewhere"));
    Files.createFile(elsewhere.resolve("in-use"));
    Files.createSymbolicLink(parent.resolve("mortise-redis-2"), elsewhere);

    TemporaryDirectory.deleteAbandoned(parent);

    assertTrue(Files.exists(unmarked));
    assertTrue(Files.exists(elsewhere.resolve("in-use")));
  }

  @Test
  void aDirectoryOfThisJvmIsInUseUntilItIsDeleted() throws IOException {
    TemporaryDirectory own = TemporaryDirectory.create();
    Path kept = Files.createFile(own.path().resolve("kept"));
    Path other = Files.createFile(own.path().resolve("other"));

    own.deleteAllBut(Set.of(kept));
    TemporaryDirectory.deleteAbandoned(own.path().getParent());

    assertTrue(Files.exists(kept));
    assertFalse(Files.exists(other));
    try (var files = Files.list(own.path())) {
      assertEquals(2, files.count(), "its mark too");
    }
    own.delete();
    assertFalse(Files.exists(own.path()));
  }
}
