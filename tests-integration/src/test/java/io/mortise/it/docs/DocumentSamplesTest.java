package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each block of Java in the README and the documents compiles. */
class DocumentSamplesTest {
  @Test
  void everySampleOfTheDocumentsCompiles() {
    List<Sample> samples =
        Sample.documents().stream()
            .flatMap(document -> Sample.of(document).stream())
            .filter(sample -> sample.source().isEmpty()) // else the build compiles its source
            .toList();

    assertEquals(List.of(), SampleCompiler.complaints(samples));

    Set<String> withSamples = samples.stream().map(Sample::document).collect(Collectors.toSet());
    assertTrue(
        withSamples.containsAll(
            Set.of(
                "README.md",
                "docs/choosing.md",
                "docs/fencing.md",
                "docs/migrating-from-redisson.md",
                "docs/observability.md",
                "docs/testing.md")),
        withSamples::toString);
  }

  @Test
  void aSampleThatDoesNotCompileIsNamedByDocumentAndLine() {
    List<Sample> samples =
        Sample.of(
            "a.md",
            List.of(
                "text",
                "```java",
                "lock.lock();",
                "lock.lockFor(1);",
                "```",
                "```java",
                "class Service {",
                "  LockClients locks;",
                "}",
                "```"));

    List<String> complaints = SampleCompiler.complaints(samples);

    assertEquals(2, complaints.size(), complaints::toString);
    assertTrue(
        complaints.stream().anyMatch(line -> line.startsWith("a.md:4: ")), complaints::toString);
    assertTrue(
        complaints.stream().anyMatch(line -> line.startsWith("a.md:8: ")), complaints::toString);
  }
}
