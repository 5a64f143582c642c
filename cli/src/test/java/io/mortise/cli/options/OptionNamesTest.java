package io.mortise.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A user of the command reads of its options, and not of the settings of the library. */
class OptionNamesTest {
  @Test
  void aSettingIsTheOptionThatSetsIt() {
    assertEquals(
        "no answer; raise --timeout",
        OptionNames.in("no answer; raise LockOptions.commandTimeout"));
    assertEquals(
        "silent; look at the node", // its budget has no option
        OptionNames.in("silent; look at the node, or set a longer nodeWaitBudget"));
    assertEquals(
        "--cacert is for a URI with rediss, and this one has redis",
        OptionNames.in("a context of TLS is for a URI with rediss, and this one has redis"));
    assertEquals(
        "those of the sentinels in --sentinel-user and the variable MORTISE_SENTINEL_PASSWORD",
        OptionNames.in("those of the sentinels in its ConnectionSecurity"));
    assertEquals(
        "all connections to x are in use",
        OptionNames.in(
            "all connections to x are in use; raise LockTuning.maxConnections, or the size of the"
                + " pool of your Jedis client"));
    assertEquals(
        "raise its maxclients",
        OptionNames.in("raise its maxclients, or lower LockTuning.maxConnections"));
    assertEquals("set --namespace", OptionNames.in("set LockOptions.namespace"));
    assertEquals(
        "--ttl must be at least 100 ms", OptionNames.inRefusal("lease must be at least 100 ms"));
    assertEquals(
        "lock 'x': waited for Redis for 10s, and --wait allows for a longer time: no answer",
        OptionNames.in(
            "lock 'x': waited for Redis as long as LockOptions.outageTimeout, PT10S, allows: no answer"));
    assertEquals(
        "the query is protocol=2; other settings are options of mortise",
        OptionNames.in("the query is protocol=2; other settings are in LockOptions"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "PT0.1S | 100ms",
        "PT8760H | 365d",
        "from PT1M30S to PT2H, not PT1.0000005S | from 90s to 2h, not PT1.0000005S",
        "the hold: PT5.001S, and 5000 ms | the hold: 5001ms, and 5000 ms",
        "PT0S | 0",
        "lock 'PT5S', lock 'a:PT5S' and 'a PT5S' | lock 'PT5S', lock 'a:PT5S' and 'a PT5S'",
        "PTA | PTA",
        "lock 'report-PT1H-daily': gone | lock 'report-PT1H-daily': gone",
        "lock 'my PT5S lock', after PT5S | lock 'my PT5S lock', after 5s",
        "the server's time, PT1S. 'PT5S' | the server's time, 1s. 'PT5S'",
        "jobs/PT15M/eu | jobs/PT15M/eu",
        "for PT2000000000000000H | for PT2000000000000000H",
        "lock 'a$1\\b' | lock 'a$1\\b'",
      })
  void timesAreThoseOfTheOptions(String message, String expected) {
    assertEquals(expected, OptionNames.in(message));
  }
}
