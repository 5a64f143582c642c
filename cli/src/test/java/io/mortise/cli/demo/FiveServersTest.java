package io.mortise.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Outage;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

class FiveServersTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final List<Outage> OUTAGES =
      List.of(new Outage(0, SECOND, 5 * SECOND), new Outage(3, 2 * SECOND, 6 * SECOND));

  /** From then on for half a second. */
  private static Hold at(double second, long token) {
    long entered = (long) (second * SECOND);
    return new Hold(0, 0, token, entered, entered, entered + SECOND / 2);
  }

  private static FiveServersRun run(long counted, int errors, Hold... holds) {
    return new FiveServersRun(
        List.of(holds),
        OUTAGES,
        counted,
        Collections.nCopies(errors, "on purpose"),
        3,
        Duration.ofSeconds(2),
        List.of());
  }

  private static Hold[] good() {
    return new Hold[] {at(0, 1), at(1, 2), at(2, 3), at(3, 4), at(4.5, 5), at(6, 6)};
  }

  @Test
  void eachFlawIsFound() {
    assertTrue(FiveServers.outcome(run(6, 0, good())).ok());

    assertFalse(FiveServers.outcome(run(5, 0, good())).ok(), "a lost update");
    assertFalse(FiveServers.outcome(run(6, 1, good())).ok(), "an error");
    assertFalse(
        FiveServers.outcome(run(4, 0, at(0, 1), at(1, 2), at(1.5, 3), at(6, 4))).ok(),
        "nobody got in while two were dead, or for a long time");
    Hold[] fenced = good();
    fenced[3] = at(3, 3);
    assertFalse(FiveServers.outcome(run(6, 0, fenced)).ok(), "a token that does not grow");
    Hold[] together = good();
    together[3] = new Hold(1, 0, 4, 0, 2 * SECOND + SECOND / 4, 3 * SECOND);
    assertFalse(FiveServers.outcome(run(6, 0, together)).ok(), "two at the same time");
  }

  @Test
  void aGapOfMoreThanALeaseIsTooLong() {
    FiveServersRun run = run(4, 0, at(0, 1), at(2, 2), at(5, 3), at(6, 4));
    assertEquals(5 * SECOND / 2, run.longestGapNanos());
    assertFalse(FiveServers.outcome(run).ok());
  }

  @Test
  void turnsAreCountedByHowManyServersWereUp() {
    FiveServersRun run = run(6, 0, good());
    assertEquals(2, run.cycles(5));
    assertEquals(1, run.cycles(4));
    assertEquals(3, run.cycles(3));
  }

  @Test
  void aServerThatWasKilledComesBackWithoutItsData() {
    try (Servers servers = Servers.start(2);
        RedisClient client = RedisClient.create(servers.uris().get(1))) {
      client.set("k", "v");
      long killedAt = servers.kill(1);
      assertEquals(List.of(), servers.outages(), "it is not over");
      servers.restart(1);
      try (RedisClient again = RedisClient.create(servers.uris().get(1))) {
        assertNull(again.get("k"));
      }
      Outage outage = servers.outages().get(0);
      assertEquals(killedAt, outage.fromNanos());
      assertTrue(outage.toNanos() > killedAt);
      assertEquals(
          List.of(
              Lane.ofOutages("server 1", List.of()), Lane.ofOutages("server 2", List.of(outage))),
          servers.lanes());
    }
  }
}
