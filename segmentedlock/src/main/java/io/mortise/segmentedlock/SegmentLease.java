package io.mortise.segmentedlock;

import io.mortise.core.Lease;

/**
 * One hold of one segment. Its fencing token is that of the segment: larger than that of every
 * earlier holder of the same one, and without a relation to those of other segments.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 *
 * <p>Not to be implemented by users: later versions may have more methods.
 */
public interface SegmentLease extends Lease {

  /** Returns the segment that is held, counted from 0. */
  int index();
}
