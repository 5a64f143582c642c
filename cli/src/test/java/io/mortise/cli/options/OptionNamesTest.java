package io.mortise.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** A user of the command reads of its options, and not of the settings of the library. */
class OptionNamesTest {
  @Test
  void aSettingIsTheOptionThatSetsIt() {
    assertEquals(
        "no answer; raise --timeout",
        OptionNames.in("no answer; raise LockOptions.commandTimeout"));
    assertEquals("set --namespace", OptionNames.in("set LockOptions.namespace"));
    assertEquals(
        "--ttl must be at least 100 ms", OptionNames.inRefusal("lease must be at least 100 ms"));
  }
}
