package io.mortise.it.scripts;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.fairlock.FairProtocols;
import io.mortise.rwlock.ReadWriteProtocols;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.List;

/** The kinds of locks, each with the protocol whose scripts a test runs. */
enum ScriptedKind {
  PLAIN,
  FAIR,
  WRITE,
  READ,
  FAIR_READ,
  FAIR_WRITE,
  SEGMENT,
  ANY_SEGMENT;

  LockProtocol of(String name) {
    return switch (this) {
      case PLAIN -> new PlainLockProtocol(new LockName(name), LockOptions.defaults());
      case FAIR -> FairProtocols.of(name);
      case WRITE -> ReadWriteProtocols.writer(name, false);
      case READ -> ReadWriteProtocols.reader(name, false);
      case FAIR_READ -> ReadWriteProtocols.reader(name, true);
      case FAIR_WRITE -> ReadWriteProtocols.writer(name, true);
      case SEGMENT -> SegmentProtocols.segment(name, 0);
      case ANY_SEGMENT -> SegmentProtocols.any(name, bound -> 0);
    };
  }

  /** Returns what has to be held, so that one waits. */
  List<LockProtocol> toHold(String name) {
    return switch (this) {
      case READ, FAIR_READ -> List.of(WRITE.of(name));
      case ANY_SEGMENT -> List.of(SEGMENT.of(name), SegmentProtocols.segment(name, 1));
      default -> List.of(of(name));
    };
  }
}
