package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.Rig;
import java.util.List;

/** Contests whose turns bring all that they need. */
record StandaloneSetup(List<Workload> contests) implements Rig {
  StandaloneSetup {
    contests = List.copyOf(contests);
  }

  @Override
  public void close() {}
}
