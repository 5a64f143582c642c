package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.CaseSetup;
import java.util.List;

/** Workloads whose turns start their own servers and processes. */
record StandaloneSetup(List<Workload> workloads) implements CaseSetup {
  StandaloneSetup {
    workloads = List.copyOf(workloads);
  }

  @Override
  public void close() {}
}
