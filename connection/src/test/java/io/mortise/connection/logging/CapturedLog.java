package io.mortise.connection.logging;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * The log of the tests of this module. It keeps the errors of one JVM, blocks where a test wants
 * it, and writes nothing.
 */
public final class CapturedLog implements SLF4JServiceProvider {
  private static final Queue<String> ERRORS = new ConcurrentLinkedQueue<>();

  private static volatile @Nullable Blocked blocked;

  /** Blocks all that write a line with that text, until it is closed. */
  public static final class Blocked implements AutoCloseable {
    private final String text;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);

    private Blocked(String text) {
      this.text = text;
    }

    /** Returns whether a thread is, or was, blocked. */
    public boolean isReached() {
      return reached.getCount() == 0;
    }

    private void pass(String line) {
      if (line.contains(text)) {
        reached.countDown();
        Uninterruptibles.awaitUninterruptibly(end);
      }
    }

    @Override
    public void close() {
      blocked = null;
      end.countDown();
    }
  }

  /** Blocks the lines that contain the text from now on. */
  public static Blocked block(String text) {
    Blocked one = new Blocked(text);
    blocked = one;
    return one;
  }

  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();

  /** Returns the errors that contain the text, of all tests so far. */
  public static List<String> errorsAbout(String text) {
    return ERRORS.stream().filter(line -> line.contains(text)).toList();
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return name -> new ErrorLogger();
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}

  private static final class ErrorLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return false;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level,
        @Nullable Marker marker,
        String message,
        Object @Nullable [] arguments,
        @Nullable Throwable thrown) {
      String line = MessageFormatter.basicArrayFormat(message, arguments) + ": " + thrown;
      if (level == Level.ERROR) {
        ERRORS.add(line);
      }
      Blocked one = blocked;
      if (one != null) {
        one.pass(line);
      }
    }
  }
}
