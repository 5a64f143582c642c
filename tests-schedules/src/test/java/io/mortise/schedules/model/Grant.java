package io.mortise.schedules.model;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.schedules.model.Call.Op;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * What an acquisition has given out.
 *
 * @param lease that of the lock
 * @param leaves what is held
 * @param members the leases of the leaves, in their order
 */
record Grant(Lease lease, List<Leaf> leaves, List<Lease> members) {

  /**
   * Makes the call of an acquisition, on the thread of the actor; returns null if it is refused.
   */
  static Grant of(Actor actor, Call call) throws InterruptedException {
    DistributedLock lock = actor.locks.get(call.target());
    if (call.lease() != null) {
      lock = lock.withLease(call.lease());
    }
    if (!call.minimum().isZero()) {
      lock = lock.atLeast(call.minimum());
    }
    return call.op().isHandle() ? ofHandle(lock, call) : ofThread(lock, actor, call);
  }

  private static Grant ofHandle(DistributedLock lock, Call call) throws InterruptedException {
    Optional<Lease> lease =
        switch (call.op()) {
          case ACQUIRE -> Optional.of(lock.acquire());
          case TRY_ACQUIRE -> lock.tryAcquire();
          default -> lock.acquire(call.time());
        };
    return lease.map(held -> ofHandle(held, call.target())).orElse(null);
  }

  private static Grant ofHandle(Lease lease, Target target) {
    List<Leaf> leaves =
        target.isAny()
            ? target.leaves.stream().filter(leaf -> leaf.key.equals(lease.lockName())).toList()
            : target.leaves;
    return new Grant(lease, leaves, Collections.nCopies(leaves.size(), lease));
  }

  private static Grant ofThread(DistributedLock lock, Actor actor, Call call)
      throws InterruptedException {
    if (call.op() == Op.LOCK) {
      lock.lock();
    } else if (call.op() == Op.LOCK_INTERRUPTIBLY) {
      lock.lockInterruptibly();
    } else if (!(call.op() == Op.TRY_LOCK ? lock.tryLock() : lock.tryLock(call.time()))) {
      return null;
    }
    return new Grant(
        lock.lease(),
        call.target().leaves,
        call.target().leaves.stream()
            .map(leaf -> actor.locks.get(Target.of(leaf)).lease())
            .toList());
  }
}
