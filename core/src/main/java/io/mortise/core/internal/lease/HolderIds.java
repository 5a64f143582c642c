package io.mortise.core.internal.lease;

import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Makes the holder ids of one client: another one for each acquisition, and none twice.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class HolderIds {
  private final String clientId;
  private final InstantSource clock;
  private final AtomicLong made = new AtomicLong();

  /**
   * @param clock the clock of this process, which others read in the id
   */
  public HolderIds(String clientId, InstantSource clock) {
    this.clientId = clientId;
    this.clock = clock;
  }

  /**
   * Returns an id for an acquisition that begins now.
   *
   * @param owner the thread that will own the hold; null for the current one
   */
  public String next(@Nullable Thread owner) {
    Thread asking = owner == null ? Thread.currentThread() : owner;
    return HolderId.text(clientId, made.incrementAndGet(), asking.getId(), clock.millis());
  }

  /** Returns how many ids were made: the number is another one when the client was used since. */
  public long made() {
    return made.get();
  }

  /** Returns an id for a future acquisition of any thread. */
  public String ahead() {
    return HolderId.text(clientId, made.incrementAndGet());
  }
}
