package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.BackgroundReleaser;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LockProtocol;
import java.util.ArrayList;
import java.util.List;

/**
 * The tickets of one group acquisition, in the local queues of its locks.
 *
 * <p><b>Threads.</b> Confined to one thread at a time, like its acquisition.
 */
final class GroupTickets {
  private final Ticker ticker;
  private final BackgroundReleaser releases;
  private final LocalQueues queues;
  private final List<QueueTicket> tickets = new ArrayList<>();

  GroupTickets(Ticker ticker, BackgroundReleaser releases, LocalQueues queues) {
    this.ticker = ticker;
    this.releases = releases;
    this.queues = queues;
  }

  /**
   * Takes the permit of the next lock, if it is free. A hold that comes with it is released.
   *
   * @param withinNanos the time limit for that release
   */
  boolean tryEnter(LockProtocol protocol, long withinNanos) {
    QueueTicket ticket = new QueueTicket(ticker, releases, queues, protocol);
    tickets.add(ticket);
    boolean entered = ticket.tryEnter();
    ticket.releaseOfferedHold(withinNanos);
    return entered;
  }

  /** Transfers the slots in the queues to the leases, which are in the order of the tickets. */
  void transferTo(List<RedisLease> leases) {
    for (int i = 0; i < leases.size(); i++) {
      tickets.get(i).transferTo(leases.get(i));
    }
  }

  /** Gives back all tickets that were not transferred, even if one of them fails. */
  void release() {
    releaseFrom(0);
  }

  private void releaseFrom(int first) {
    for (int i = first; i < tickets.size(); i++) {
      try {
        tickets.get(i).release();
      } catch (Throwable e) {
        releaseFrom(i + 1);
        throw e;
      }
    }
  }
}
