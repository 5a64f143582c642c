package io.mortise.it.chaos;

import io.mortise.core.DistributedLock;
import io.mortise.testkit.HoldLog.Mode;
import java.util.List;

/**
 * One way into a critical section.
 *
 * @param mode whom its holder excludes
 * @param resources what it guards: who holds this lock holds all of these
 */
record SectionEntry(DistributedLock lock, Mode mode, List<String> resources) {}
