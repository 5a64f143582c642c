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
 * The loop of a worker process: carries out requests until its input ends. The input ends also when
 * the demo is killed, so no worker outlives it.
 *
 * <p><b>Threads.</b> One thread reads the requests; any thread of a job reports events.
 */
public final class Worker {
  private final Function<String, WorkerTask> taskOfChapter;
  private final JsonLines.Writer events;
  private @Nullable JobRun run;

  /** A worker that writes its events to {@code out}. */
  public Worker(Function<String, WorkerTask> taskOfChapter, OutputStream out) {
    this.taskOfChapter = taskOfChapter;
    this.events = new JsonLines.Writer(out);
  }

  /** Carries out requests until the end of the input. */
  public void run(InputStream requests) throws IOException {
    report(new WorkerEvent.Ready(System.nanoTime()));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(requests, StandardCharsets.UTF_8));
    String line;
    while ((line = lines.readLine()) != null) {
      try {
        carryOut(JsonLines.request(line));
      } catch (InterruptedException | RuntimeException e) {
        fail(e);
      }
    }
  }

  private void carryOut(WorkerRequest request) throws InterruptedException {
    if (request instanceof WorkerRequest.Prepare prepare) {
      Job job = prepare.job();
      run = JobRun.prepare(job, taskOfChapter.apply(job.chapter()), this::report, this::fail);
      report(new WorkerEvent.Prepared());
      return;
    }
    JobRun current = run;
    if (current == null) {
      throw new IllegalStateException("no job to which the request belongs: " + request);
    }
    if (request instanceof WorkerRequest.Go) {
      current.go();
    } else if (request instanceof WorkerRequest.Call call) {
      current.call(call.thread());
    } else if (request instanceof WorkerRequest.Proceed) {
      current.proceed();
    } else {
      current.close();
    }
  }

  private void fail(Throwable e) {
    e.printStackTrace(System.err); // for --verbose
    report(new WorkerEvent.Failed(e.toString()));
  }

  private void report(WorkerEvent event) {
    try {
      events.write(event);
    } catch (IOException e) {
      Runtime.getRuntime().halt(1); // the demo has ended
    }
  }
}
