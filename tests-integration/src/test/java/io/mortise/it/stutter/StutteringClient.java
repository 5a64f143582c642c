package io.mortise.it.stutter;

import io.mortise.core.LockClient;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A child JVM whose threads contend for one lock, with default options, while its parent makes it
 * stutter. It prints {@code begun}; in the end {@code worker <name> <mode> cycles <n> longest <ms>
 * ms} of each thread, and {@code done}. As soon as a thread fails or waits for too long, it prints
 * {@code stuck} and the stack of that thread instead.
 */
final class StutteringClient {
  private static final long POLL_NANOS = 100_000_000;

  private StutteringClient() {}

  /** Arguments: lock, directory of the log, run time in ms, longest wait in ms, URIs. */
  public static void main(String[] arguments) {
    ContendedLock lock = ContendedLock.valueOf(arguments[0]);
    long runNanos = Long.parseLong(arguments[2]) * 1_000_000;
    long boundMillis = Long.parseLong(arguments[3]);
    List<String> uris = Arrays.asList(arguments).subList(4, arguments.length);
    List<LockClient> here = uris.stream().map(LockClient::create).toList();
    List<LockClient> there = uris.stream().map(LockClient::create).toList();
    try (HoldLog log = HoldLog.open(Path.of(arguments[1]))) {
      List<CyclingThread> all = new ArrayList<>();
      lock.contenders(here, there, "stutter")
          .forEach(contender -> all.add(new CyclingThread("thread-" + all.size(), contender, log)));
      all.forEach(CyclingThread::start);
      System.out.println("begun");
      watch(all, runNanos, boundMillis);
      all.forEach(thread -> thread.report(boundMillis));
    }
    here.forEach(LockClient::close);
    there.forEach(LockClient::close);
    System.out.println("done");
  }

  private static void watch(List<CyclingThread> all, long runNanos, long boundMillis) {
    long start = System.nanoTime();
    while (!all.stream().allMatch(CyclingThread::hasEnded)) {
      if (System.nanoTime() - start > runNanos) {
        all.forEach(CyclingThread::stop);
      }
      LockSupport.parkNanos(POLL_NANOS);
      if (!all.stream().allMatch(thread -> thread.isWell(boundMillis))) {
        all.forEach(thread -> thread.report(boundMillis));
        System.out.println("stuck");
        Runtime.getRuntime().halt(1);
      }
    }
  }
}
