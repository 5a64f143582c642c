package io.mortise.cli.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A worker process, seen from inside: takes orders until its input ends. The input ends also when
 * the demo is killed, so no worker outlives it.
 */
public final class Worker {
  private final Function<String, WorkerTask> workOfChapter;
  private final JsonLines.Writer reports;
  private @Nullable JobRun shift;

  /** A worker that reports to {@code out}. */
  public Worker(Function<String, WorkerTask> workOfChapter, OutputStream out) {
    this.workOfChapter = workOfChapter;
    this.reports = new JsonLines.Writer(out);
  }

  /** Takes orders until the end of the input. */
  public void run(InputStream orders) throws IOException {
    report(new WorkerEvent.Ready(System.nanoTime()));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(orders, StandardCharsets.UTF_8));
    String line;
    while ((line = lines.readLine()) != null) {
      try {
        obey(JsonLines.order(line));
      } catch (InterruptedException | RuntimeException e) {
        fail(e);
      }
    }
  }

  private void obey(WorkerRequest order) throws InterruptedException {
    if (order instanceof WorkerRequest.Prepare prepare) {
      Job job = prepare.job();
      shift = JobRun.prepare(job, workOfChapter.apply(job.chapter()), this::report, this::fail);
      report(new WorkerEvent.Prepared());
      return;
    }
    JobRun current = shift;
    if (current == null) {
      throw new IllegalStateException("no job to which the order belongs: " + order);
    }
    if (order instanceof WorkerRequest.Go) {
      current.go();
    } else if (order instanceof WorkerRequest.Call call) {
      current.call(call.thread());
    } else if (order instanceof WorkerRequest.Proceed) {
      current.proceed();
    } else {
      current.close();
    }
  }

  private void fail(Throwable e) {
    e.printStackTrace(System.err); // the demo shows it on request
    report(new WorkerEvent.Failed(e.toString()));
  }

  private void report(WorkerEvent event) {
    try {
      reports.write(event);
    } catch (IOException e) {
      Runtime.getRuntime().halt(1); // nobody listens any more
    }
  }
}
