package io.mortise.it.docs;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Compiles samples of documents against the class path of the tests. The declarations around a
 * sample are on the first line of the compiled file, and the sample on the same lines as in its
 * document, so that the compiler's line numbers are those of the document.
 */
final class SampleCompiler {
  /** A sample that declares a type, at the beginning of a line, is a file of its own. */
  private static final Pattern DECLARES_TYPE =
      Pattern.compile("(?m)^(public |final |abstract )*(class|interface|record|enum) \\w+");

  private static final List<String> IMPORTS =
      List.of(
          "static io.mortise.it.docs.SampleContext.*",
          "static org.awaitility.Awaitility.await",
          "static org.junit.jupiter.api.Assertions.assertFalse",
          "io.mortise.core.*",
          "io.mortise.fairlock.*",
          "io.mortise.fencing.*",
          "io.micrometer.core.instrument.Meter",
          "io.micrometer.core.instrument.config.MeterFilter",
          "io.micrometer.core.instrument.distribution.DistributionStatisticConfig",
          "io.mortise.micrometer.*",
          "io.mortise.multilock.*",
          "io.mortise.redlock.*",
          "io.mortise.rwlock.*",
          "io.mortise.segmentedlock.*",
          "io.mortise.testkit.*",
          "java.time.Duration",
          "java.util.*",
          "org.junit.jupiter.api.Test",
          "org.junit.jupiter.api.extension.ExtendWith",
          "org.redisson.Redisson",
          "org.redisson.api.RLock",
          "org.redisson.api.RedissonClient",
          "org.redisson.config.Config",
          "redis.clients.jedis.Protocol.Command");

  private SampleCompiler() {}

  /** Returns the errors and warnings of these samples, each with document and line. */
  static List<String> complaints(List<Sample> samples) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<String> options =
        List.of(
            "-proc:none",
            "-Xlint:deprecation,removal,rawtypes,unchecked",
            "-implicit:none",
            "-classpath",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    List<Source> sources = new ArrayList<>();
    for (Sample sample : samples) {
      sources.add(new Source(sample, "Sample" + sources.size()));
    }
    compiler
        .getTask(null, new InMemoryOutput(compiler, found), found, options, null, sources)
        .call();
    return found.getDiagnostics().stream().map(SampleCompiler::complaint).toList();
  }

  private static String complaint(Diagnostic<? extends JavaFileObject> found) {
    String place =
        found.getSource() instanceof Source source
            ? source.sample.document() + ":" + found.getLineNumber()
            : "compiler";
    return place + ": " + found.getMessage(null);
  }

  /** A sample in the form of a Java file. */
  private static final class Source extends SimpleJavaFileObject {
    private final Sample sample;
    private final String className;

    Source(Sample sample, String className) {
      super(URI.create("sample:///" + className + ".java"), Kind.SOURCE);
      this.sample = sample;
      this.className = className;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      boolean declaresType = DECLARES_TYPE.matcher(sample.text()).find();
      String header =
          Stream.concat(
                  Stream.of("package io.mortise.it.docs;"),
                  IMPORTS.stream().map(name -> "import " + name + ";"))
              .reduce("", String::concat);
      String before =
          declaresType
              ? ""
              : ("abstract class %s extends SampleContext { %s() { super(null, null, null); }"
                      + " void sample() throws Exception {")
                  .formatted(className, className);
      String after = declaresType ? "" : "}}";
      return header + before + "\n".repeat(sample.firstLine() - 1) + sample.text() + "\n" + after;
    }
  }
}
