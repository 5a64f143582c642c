package io.mortise.it.recipes;

import io.mortise.core.Lease;

/** The work of a scheduled job. */
interface Report {
  /** Writes the report; calls {@link Lease#ensureValid()} between its steps. */
  void write(Lease lease);
}
