package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.Rig;
import java.util.List;

/** Contests whose turns bring all that they need. */
record Booth(List<Contest> contests) implements Rig {
  Booth {
    contests = List.copyOf(contests);
  }

  @Override
  public void close() {}
}
