package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.WorkerTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The threads of several processes all want one name. */
final class HotProcesses implements BenchmarkCase {
  private static final int PROCESSES = 4;
  private static final int THREADS = 4;

  @Override
  public String name() {
    return "hot-processes";
  }

  @Override
  public String about() {
    return "one name, 4 processes of 4 threads; plain and fair; the hand-over, and each one's share";
  }

  @Override
  public Figure figure() {
    return Figure.OPS;
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    Boards boards = new Boards();
    SharedServerSetup stage = SharedServerSetup.open(PROCESSES);
    for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR)) {
      stage
          .server()
          .command("RPUSH", ListSection.key(nameOf(LockLibrary.FLOOR, kind)), "the only one");
      stage.add(
          kind.label(),
          Map.of("lock", kind.label()),
          subject ->
              new WorkerTask(
                  kind.label(),
                  kind,
                  List.of(nameOf(subject, kind)),
                  NameSharing.PROCESSES,
                  THREADS,
                  0,
                  0,
                  WorkerTask.Latency.WAIT,
                  boards.create().toString()),
          null);
    }
    return new Rig() {
      @Override
      public List<Workload> contests() {
        return stage.contests();
      }

      @Override
      public void close() {
        stage.close();
        boards.close();
      }
    };
  }

  private static String nameOf(LockLibrary subject, LockKind kind) {
    return "%s:hot:%s".formatted(subject.label(), kind.label());
  }

  /** The files of the boards; they are deleted also if somebody ends the benchmark. */
  private static final class Boards implements AutoCloseable {
    private final List<Path> files = new ArrayList<>();

    Path create() {
      try {
        Path file = Files.createTempFile("mortise-bench-", ".board");
        file.toFile().deleteOnExit();
        files.add(file);
        return file;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      for (Path file : files) {
        try {
          Files.deleteIfExists(file);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }
}
