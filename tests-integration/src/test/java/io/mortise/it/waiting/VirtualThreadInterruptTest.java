package io.mortise.it.waiting;

import io.mortise.it.support.AsyncCall;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/**
 * The same on virtual threads, where an interrupt closes the socket on which the thread waits for
 * an answer.
 */
@Tag("virtual-threads")
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadInterruptTest extends InterruptTest {

  @Override
  AsyncCall.Threads threads() {
    return AsyncCall.Threads.VIRTUAL;
  }
}
