package io.mortise.core.spi;

import io.mortise.core.Lease;
import java.util.function.Consumer;

/**
 * A hold as those see it who keep it for somebody: the layer that remembers which thread owns what,
 * and locks that are made of other locks. All methods may be called by any thread.
 */
public interface OwnedLease extends Lease {

  /**
   * Makes the hold last for at least the lease of these terms from now, and be renewed if they say
   * so; never shortens it. Sends something only if it has to last for longer than it does.
   *
   * @throws io.mortise.core.LockException if it could not be lengthened; it stands as it was
   */
  void extendTo(LeaseTerms terms);

  /** Whether {@link #extendTo} with these terms would send nothing. */
  boolean covers(LeaseTerms terms);

  /** Renews the hold from now on, or no more. */
  void setRenewed(boolean wanted);

  /** Whether the hold, or any part of it, is renewed. */
  boolean isRenewed();

  /**
   * Renews the hold no more, whatever is asked later: it ends with its lease, and is lost then.
   *
   * @param why in words, for the log and for the loss
   */
  void stopRenewal(String why);

  /**
   * One level of re-entry more; as {@link #extendTo}. If it throws, there is none more, of no part
   * of this hold.
   */
  default void reenter(LeaseTerms terms) {
    extendTo(terms);
  }

  /**
   * One level of re-entry less, and not the last.
   *
   * @param renewed whether any of the levels that are left wants the hold renewed
   */
  default void exit(boolean renewed) {
    setRenewed(renewed);
  }

  /** Asks Redis soon whether the hold is still there. */
  void requestVerification();

  /**
   * Asks Redis whether the hold is still there, and waits for the answer.
   *
   * @throws io.mortise.core.LeaseLostException if it is not
   * @throws io.mortise.core.LockException if Redis did not say
   */
  void verifyNow();

  /**
   * The last token that the lock remembered when this hold began; 0 when it remembered none,
   * because it is new, or has lost its data.
   */
  long lastToken();

  /**
   * Makes the token of this hold, and what the lock remembers as its last token, at least as large
   * as the one given. The next holder's is larger then.
   *
   * @return false when the hold was not there any more: the token is as it was then
   * @throws io.mortise.core.LockException if Redis did not say that it is done
   */
  boolean raiseToken(long atLeast);

  /**
   * As {@link #onStateChange}, but not told that the hold was released: for holds that are made of
   * this one, which release it themselves, and need no thread for being told.
   *
   * @param tells whether the listener logs what it means that this hold is lost; then the loss by
   *     itself is no warning
   * @return ends it
   */
  Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells);

  /**
   * Gives the hold up, whoever owns it. A second call does nothing, except that it throws again if
   * the lease was lost.
   *
   * @throws io.mortise.core.LeaseLostException if the lease was lost before
   * @throws io.mortise.core.LockException if the release could not be confirmed; it is repeated in
   *     the background
   */
  void release();
}
