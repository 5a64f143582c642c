package io.mortise.it.faults;

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
  Background.Threads threads() {
    return Background.Threads.VIRTUAL;
  }
}
