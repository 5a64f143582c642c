package io.mortise.core.spi;

import io.mortise.core.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease with the operations of the layers that manage it for an owner: {@link ThreadOwnership},
 * and locks that are composed of other locks.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public interface OwnedLease extends Lease {
  /**
   * Why the {@linkplain #stopRenewal renewal stops} of a hold that nobody may be left to release.
   */
  String UNRELEASED = "an error kept it from being released";

  /**
   * Extends the hold to at least the lease of these terms from now, and starts its renewal if the
   * terms say so; never shortens it. Sends a command only if the hold has to last longer than it
   * does.
   *
   * @throws io.mortise.core.LockException if the hold could not be extended; it is unchanged
   */
  void extendTo(LeaseTerms terms);

  /** Returns whether {@link #extendTo} with these terms would send nothing. */
  boolean covers(LeaseTerms terms);

  /** Starts or stops the renewal of the hold. */
  void setRenewed(boolean wanted);

  /** Returns whether the hold, or any part of it, is renewed. */
  boolean isRenewed();

  /**
   * Stops the renewal for good, whatever is requested later: the hold ends with its lease, and is
   * lost then. Takes effect without memory too, even if it throws an {@link OutOfMemoryError}.
   *
   * @param why the reason in words, for the log and the loss
   */
  void stopRenewal(String why);

  /**
   * Adds one level of re-entry, and extends the hold as {@link #extendTo}. If it throws, no part of
   * this hold has gained a level.
   */
  default void reenter(LeaseTerms terms) {
    extendTo(terms);
  }

  /**
   * Removes one level of re-entry, which is not the last.
   *
   * @param renewed whether any of the remaining levels needs the hold renewed
   */
  default void exit(boolean renewed) {
    setRenewed(renewed);
  }

  /**
   * Returns the moment before the request that granted this hold, on the clock of {@link
   * LeaseSource#nanoTime()}.
   */
  long sinceNanos();

  /**
   * Sets the time, on the same clock, until which a release keeps the lock busy: the hold ends for
   * its owner, and in Redis the rest of the time stays, which belongs to no client. The latest of
   * several times counts.
   */
  void keepUntil(long nanos);

  /** Cancels {@link #keepUntil}, because nobody has received this hold. */
  void waiveMinimum();

  /** Applies the minimum of these terms, which begins with the request that granted this hold. */
  default void beginMinimum(LeaseTerms terms) {
    if (terms.minimumMillis() > 0) {
      keepUntil(sinceNanos() + terms.minimumNanos());
    }
  }

  /** Requests a verification: Redis is soon asked whether the hold still exists. */
  void requestVerification();

  /**
   * Asks Redis whether the hold still exists, and waits for the reply.
   *
   * @throws io.mortise.core.LeaseLostException if it does not exist
   * @throws io.mortise.core.LockException if Redis did not answer
   */
  void verifyNow();

  /**
   * Returns the last token that the lock remembered when this hold began; 0 when it remembered
   * none, because the lock is new or has lost its data.
   */
  long lastToken();

  /**
   * Raises the token of this hold, and the last token that the lock remembers, to at least the
   * given one. The next holder's token is larger then.
   *
   * @return false when the hold did not exist any more; its token is then unchanged
   * @throws io.mortise.core.LockException if Redis did not confirm it
   */
  boolean raiseToken(long atLeast);

  /**
   * As {@link #onStateChange}, but not notified of a release: for holds that are composed of this
   * one. They release it themselves, and need no thread for that notification.
   *
   * @param logsLoss whether the listener logs the consequence of a loss; the loss itself is then
   *     not logged as a warning
   * @return unregisters the listener
   */
  Runnable onChangeWhileHeld(Consumer<State> listener, boolean logsLoss);

  /**
   * Closes the hold on the calling thread. The user of a handle has a {@link LeakDetectingLease},
   * which does it on a thread of the client.
   */
  @Override
  default CompletionStage<@Nullable Void> releaseAsync() {
    try {
      close();
      return CompletableFuture.completedStage(null);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /**
   * Releases the hold, regardless of its owner. A second call does nothing, except that it throws
   * again if the lease was lost. If an {@link Error} keeps it from being released, such as one for
   * want of memory, it is released in the background, or is not renewed any more.
   *
   * @throws io.mortise.core.LeaseLostException if the lease was lost before
   * @throws io.mortise.core.LockException if the release could not be confirmed; it is repeated in
   *     the background
   */
  void release();

  /**
   * Has the client release the hold soon, regardless of its owner, and waits for no reply: for a
   * hold that its owner has lost as a part of another one. A second call does nothing, nor does one
   * after a loss or a release.
   */
  void releaseInBackground();

  /**
   * Gives up what is left of a lost hold, without a wait. Its thread calls it, once, when it knows
   * of the loss: it may never release the hold.
   *
   * @param levels how often the thread has entered the hold
   */
  default void giveUpLost(int levels) {}

  /**
   * Releases a hold that no caller has received; so it has no minimum. After an {@link Error} it is
   * not renewed any more: nobody is left to release it.
   */
  default void releaseUnused() {
    try {
      try {
        waiveMinimum();
      } finally {
        release();
      }
    } catch (Error e) {
      stopRenewal(UNRELEASED);
      throw e;
    }
  }
}
