package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ServerDirectoryTest {
  @Test
  void aServerThatDoesNotAnswerInTimeIsKilledAndItsLogShown(@TempDir Path directory)
      throws Exception {
    Path silent = directory.resolve("silent");
    Files.writeString(silent, "#!/bin/sh\necho \"pid $$\"\nexec sleep 600\n");
    assertTrue(silent.toFile().setExecutable(true));
    ServerDirectory home = new ServerDirectory(silent, false, List.of(), Map.of());
    int port = Ports.take();
    try {
      ServerConnection connection = new ServerConnection("127.0.0.1", port, null);

      IllegalStateException late =
          assertThrows(
              IllegalStateException.class,
              () -> home.launch(connection, false, Duration.ofSeconds(2)));

      String log = home.log();
      assertTrue(late.getMessage().contains(log), late::getMessage);
      long pid = Long.parseLong(log.strip().replace("pid ", ""));
      assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    } finally {
      Ports.giveBack(port);
      home.delete();
    }
  }

  @Test
  void aServerLosesItsDataAloneAndInTheEndAllOfItsFiles() throws Exception {
    ServerDirectory home = new ServerDirectory(Path.of("redis-server"), false, List.of(), Map.of());
    Path log = Files.createFile(home.directory().resolve("redis.log"));
    Path config = Files.createFile(home.directory().resolve("redis.conf"));
    Path data = Files.createDirectory(home.directory().resolve("appendonlydir"));
    Files.createFile(data.resolve("file"));

    home.forgetData();

    assertTrue(Files.exists(log));
    assertTrue(Files.exists(config));
    assertFalse(Files.exists(data));
    home.delete();
    assertFalse(Files.exists(home.directory()));
  }
}
