package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OsProcessTest {
  /** A process that ends after it has been asked once whether it runs. */
  private static final class Ending extends Process {
    private boolean asked;

    @Override
    public boolean isAlive() {
      boolean alive = !asked;
      asked = true;
      return alive;
    }

    @Override
    public CompletableFuture<Process> onExit() {
      return CompletableFuture.completedFuture(this);
    }

    @Override
    public long pid() {
      return Long.MAX_VALUE;
    }

    @Override
    public int exitValue() {
      return 0;
    }

    @Override
    public int waitFor() {
      return 0;
    }

    @Override
    public void destroy() {}

    @Override
    public OutputStream getOutputStream() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public InputStream getInputStream() {
      return InputStream.nullInputStream();
    }

    @Override
    public InputStream getErrorStream() {
      return InputStream.nullInputStream();
    }
  }

  @Test
  void aProcessThatEndsByItselfWhileItIsTerminatedIsTerminated() {
    OsProcess process = new OsProcess(new Ending());
    process.terminate(Duration.ofSeconds(10));
    assertFalse(process.isRunning());
  }
}
