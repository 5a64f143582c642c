package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.Sharing;
import io.mortise.benchmarks.locks.Subject;
import io.mortise.benchmarks.worker.Work;
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
    Stage stage = Stage.open(PROCESSES);
    for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR)) {
      stage.server().command("RPUSH", ListSection.key(nameOf(Subject.FLOOR, kind)), "the only one");
      stage.add(
          kind.label(),
          Map.of("lock", kind.label()),
          subject ->
              new Work(
                  kind.label(),
                  kind,
                  List.of(nameOf(subject, kind)),
                  Sharing.PROCESSES,
                  THREADS,
                  0,
                  0,
                  Work.Latency.WAIT,
                  boards.create().toString()),
          null);
    }
    return new Rig() {
      @Override
      public List<Contest> contests() {
        return stage.contests();
      }

      @Override
      public void close() {
        stage.close();
        boards.close();
      }
    };
  }

  private static String nameOf(Subject subject, LockKind kind) {
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
