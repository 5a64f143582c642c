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
  private final Runnable onUse;
  private final AtomicLong made = new AtomicLong();

  /**
   * @param clock the clock of this process, which others read in the id
   * @param onUse called for each acquisition, on its thread
   */
  public HolderIds(String clientId, InstantSource clock, Runnable onUse) {
    this.clientId = clientId;
    this.clock = clock;
    this.onUse = onUse;
  }

  /**
   * Returns an id for an acquisition that begins now.
   *
   * @param owner the thread that will own the hold; null for the current one
   */
  public String next(@Nullable Thread owner) {
    onUse.run();
    Thread asking = owner == null ? Thread.currentThread() : owner;
    return HolderId.text(clientId, made.incrementAndGet(), asking.getId(), clock.millis());
  }

  /** Returns an id for a future acquisition of any thread. */
  public String ahead() {
    return HolderId.text(clientId, made.incrementAndGet());
  }
}
