package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerTask;
import java.util.List;
import java.util.stream.Collectors;

/** All chapters, in the order in which they are played. */
public final class Chapters {
  private static final List<Chapter> ALL =
      List.of(
          new WithoutLock(),
          new WithRedisLock(),
          new Crash(),
          new Pause(),
          new Fairness(),
          new ReadersAndWriters(),
          new Transfers(),
          new HotStock(),
          new FiveServers());

  private Chapters() {}

  /** Returns all chapters. */
  public static List<Chapter> all() {
    return ALL;
  }

  /**
   * Returns the chapter of that name.
   *
   * @throws IllegalArgumentException if there is none; the message has all names
   */
  public static Chapter named(String name) {
    return ALL.stream()
        .filter(chapter -> chapter.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no chapter '%s'; there are %s"
                        .formatted(
                            name,
                            ALL.stream().map(Chapter::name).collect(Collectors.joining(", ")))));
  }

  /** Returns the worker's side of the chapter of that name. */
  static WorkerTask taskOf(String name) {
    return named(name);
  }
}
