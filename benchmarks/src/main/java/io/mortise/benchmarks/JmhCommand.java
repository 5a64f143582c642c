package io.mortise.benchmarks;

import io.mortise.benchmarks.jmh.InsideTheJvm;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bench jmh}: measures what needs no Redis, in nanoseconds. */
@Command(
    name = "jmh",
    mixinStandardHelpOptions = true,
    description = "Measures re-entry, ownership and the local queue inside one JVM, by JMH.")
final class JmhCommand implements Callable<Integer> {
  @Option(names = "--quick", description = "One fork, short iterations: half a minute.")
  private boolean quick;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the JSON of JMH to this file.")
  private @Nullable String json;

  @Override
  public Integer call() throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(InsideTheJvm.class.getName())
            .forks(quick ? 1 : 3)
            .jvmArgs() // not those of this process, which favour a quick start
            .warmupIterations(quick ? 2 : 5)
            .warmupTime(TimeValue.milliseconds(quick ? 300 : 1000))
            .measurementIterations(quick ? 3 : 5)
            .measurementTime(TimeValue.milliseconds(quick ? 300 : 1000));
    if (json != null) {
      options.resultFormat(ResultFormatType.JSON).result(json);
    }
    new Runner(options.build()).run();
    return 0;
  }
}
