package io.mortise.it.waiting;

import io.mortise.it.support.AsyncCall;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads: an interrupt closes the socket on which such a thread waits for a reply. */
@Tag("virtual-threads")
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadInterruptTest extends InterruptTest {

  @Override
  AsyncCall.Threads threads() {
    return AsyncCall.Threads.VIRTUAL;
  }
}
