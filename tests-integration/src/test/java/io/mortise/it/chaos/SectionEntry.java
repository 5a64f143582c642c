package io.mortise.it.chaos;

import io.mortise.core.DistributedLock;
import io.mortise.testkit.HoldLog.Mode;
import java.util.List;

/**
 * One way into a critical section.
 *
 * @param mode which other holders it excludes
 * @param resources what it guards: its holder holds the lock of each of them
 */
record SectionEntry(DistributedLock lock, Mode mode, List<String> resources) {}
