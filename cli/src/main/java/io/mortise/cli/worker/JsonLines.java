package io.mortise.cli.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/** The messages between the demo and a worker, in both directions: JSON, one message a line. */
final class JsonLines {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonLines() {}

  static WorkerRequest request(String line) {
    return read(line, WorkerRequest.class);
  }

  static WorkerEvent event(String line) {
    return read(line, WorkerEvent.class);
  }

  private static <T> T read(String line, Class<T> type) {
    try {
      return JSON.readValue(line, type);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("not a message of the worker protocol: " + line, e);
    }
  }

  /**
   * Writes messages.
   *
   * <p><b>Threads.</b> Any thread; a lock keeps lines whole.
   */
  static final class Writer implements AutoCloseable {
    private final OutputStream out;
    private final ReentrantLock writing = new ReentrantLock();

    Writer(OutputStream out) {
      this.out = out;
    }

    void write(WorkerRequest request) throws IOException {
      write(JSON.writerFor(WorkerRequest.class).writeValueAsString(request));
    }

    void write(WorkerEvent event) throws IOException {
      write(JSON.writerFor(WorkerEvent.class).writeValueAsString(event));
    }

    @Override
    public void close() throws IOException {
      writing.lock();
      try {
        out.close();
      } finally {
        writing.unlock();
      }
    }

    private void write(String line) throws IOException {
      byte[] bytes = (line + '\n').getBytes(StandardCharsets.UTF_8);
      writing.lock();
      try {
        out.write(bytes);
        out.flush();
      } finally {
        writing.unlock();
      }
    }
  }
}
