package io.mortise.core.internal.lease;

/**
 * Thrown when the listeners of a composite hold could not be notified, because no thread could be
 * started for that. The member that has notified the composite hold does so again: see {@link
 * LeaseListeners}, <b>A full heap</b>.
 */
public final class UndeliveredException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UndeliveredException(String lockName) {
    super("lock '" + lockName + "': no thread could be started that notifies its listeners");
  }
}
