package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockException;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.Remedies;
import java.util.Optional;

/** One thing that a user should know about a server. */
record HealthFinding(
    Check check, Severity severity, String problem, String remedy, Optional<LockException> cause)
    implements Finding {

  static HealthFinding of(Check check, Severity severity, String problem, String remedy) {
    return new HealthFinding(check, severity, problem, remedy, Optional.empty());
  }

  /** Returns an error that a fault has shown, with the remedy for that kind of fault. */
  static HealthFinding of(Check check, String problem, CommandException fault) {
    return of(check, Severity.ERROR, problem, Remedies.of(fault), fault);
  }

  static HealthFinding of(
      Check check, Severity severity, String problem, String remedy, CommandException fault) {
    return new HealthFinding(
        check,
        severity,
        problem + ": " + fault.getMessage(),
        remedy,
        Optional.of(LockExceptions.from(fault)));
  }

  @Override
  public String toString() {
    return severity + ": " + problem + "; " + remedy;
  }
}
