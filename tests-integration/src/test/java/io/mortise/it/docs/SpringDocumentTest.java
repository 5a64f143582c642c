package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each block of Java in docs/spring.md is a part of the example, which the build compiles. */
class SpringDocumentTest {
  private static final Path EXAMPLE =
      Path.of("../examples/spring-boot-service/src/main/java/com/example/springbootservice");

  @Test
  void everyBlockIsWhatItsSourceSays() throws Exception {
    List<Sample> samples = Sample.of("docs/spring.md");
    assertEquals(2, samples.size());
    for (Sample sample : samples) {
      String source =
          sample.source().orElseThrow(() -> new AssertionError(sample + " names no source"));
      assertEquals(Quotation.of(EXAMPLE, source), sample.text(), () -> sample.toString());
    }
  }
}
