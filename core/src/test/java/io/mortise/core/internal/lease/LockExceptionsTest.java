package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.pool.CommandException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockExceptionsTest {
  @ParameterizedTest
  @EnumSource
  void eachKindOfFaultHasAReasonOfItsName(CommandException.Kind kind) {
    CommandException fault = new CommandException(kind, false, "on purpose", null);

    assertEquals(kind.name(), LockExceptions.from(fault).reason().name());
    assertEquals(kind.isTransient(), LockExceptions.from(fault).reason().isTransient());
  }
}
