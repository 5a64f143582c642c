package io.mortise.artefacts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The locks work in a native image, with the metadata of the artefacts and no other. */
@ExtendWith(RedisServerExtension.class)
@EnabledIfSystemProperty(named = "native.image.tool", matches = ".+")
class NativeImageTest {
  @Test
  void everyLockWorksInANativeImage(RedisServer server, @TempDir Path directory) throws Exception {
    Path image = directory.resolve("every-lock");
    ClassPath.run(
        directory.resolve("native-image"),
        15,
        System.getProperty("native.image.tool"),
        "--no-fallback",
        "-cp",
        ClassPath.joined(),
        "-o",
        image.toString(),
        OnServer.class.getName());
    assertTrue(Files.isExecutable(image));

    ClassPath.assertEveryLockWorks(directory, image.toString(), server.uri());
  }
}
