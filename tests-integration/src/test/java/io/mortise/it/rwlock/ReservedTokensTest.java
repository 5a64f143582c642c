package io.mortise.it.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.CallerAwareProtocol.CallerHold;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.rwlock.ReadWriteProtocols;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The fencing tokens that a writer reserves for hand-offs. The token key is ahead of the clock, so
 * that no token comes from the clock.
 */
@Timeout(60)
@Tag("redis-version")
class ReservedTokensTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private static final long LEASE = 60_000;
  private static final String WRITER = "fffffffe-0000-8000-8000-000000000000:1";
  private static final String OTHER = "fffffffd-0000-8000-8000-000000000000:1";
  private static final String READER = "00000001-0000-8000-8000-000000000000:1";
  private static final String BESIDE = "00000002-0000-8000-8000-000000000000:1";
  private static final long AHEAD = 9_000_000_000_000_000L;

  private final LockName name = new LockName(Names.fresh());
  private final LockProtocol writes = ReadWriteProtocols.writer(name.value(), false);
  private final LockProtocol reads = ReadWriteProtocols.reader(name.value(), false);

  private static List<?> run(ScriptCall call) {
    List<String> keys = call.keys().stream().map(key -> new String(key, UTF_8)).toList();
    Object[] arguments =
        call.arguments().stream().map(argument -> new String(argument, UTF_8)).toArray();
    return (List<?>) ScriptServer.run(redis.jedis(), call.script().path(), keys, arguments);
  }

  /** Acquires and releases for writing; returns the token. */
  private long write(String holder, int tokens) {
    List<?> granted = run(writes.acquire(holder, LEASE, true, tokens - 1));
    assertEquals(1L, granted.get(0), granted::toString);
    run(writes.release(holder));
    return (Long) granted.get(1);
  }

  @BeforeEach
  void aTokenAheadOfTheClock() {
    redis.jedis().set(name.tokenKey(), Long.toString(AHEAD));
  }

  @Test
  void allAreReservedWhenNobodyWaits() {
    assertEquals(AHEAD + 1, write(WRITER, 16));
    assertEquals(AHEAD + 17, write(OTHER, 1));
  }

  @Test
  void allAreReservedWhenAnotherWriterWaits() {
    run(reads.acquire(READER, LEASE, false, 0));
    assertEquals(2L, run(writes.acquire(OTHER, LEASE, true, 0)).get(0));
    run(reads.release(READER));
    assertEquals(AHEAD + 1, write(WRITER, 16));
    assertEquals(AHEAD + 17, write(OTHER, 1));
  }

  @Test
  void aReaderHasTheLastOfThem() {
    assertEquals(AHEAD + 1, write(WRITER, 16));
    assertEquals(List.of(1L, AHEAD + 16, AHEAD + 16), run(reads.acquire(READER, LEASE, false, 0)));
    run(reads.release(READER));
    assertEquals(AHEAD + 17, write(OTHER, 1));
  }

  private LockProtocol below(long token, long lastReserved) {
    return ReadWriteProtocols.readerBelow(
        new CallerHold(WRITER, token, lastReserved), name.value(), false);
  }

  /** A reader that comes beside it after a downgrade must not make it look like an earlier one. */
  @Test
  void aWriterThatReadsHasItsOwnAndGivesBackTheRest() {
    run(writes.acquire(WRITER, LEASE, true, 15));
    LockProtocol below = below(AHEAD + 1, AHEAD + 16);
    assertEquals(List.of(1L, AHEAD + 1, AHEAD + 16), run(below.acquire(READER, LEASE, false, 0)));
    List<?> repeated = run(below.acquire(READER, LEASE, false, 0));
    assertEquals(List.of(1L, AHEAD + 1, AHEAD + 1), repeated);
    run(writes.release(WRITER));
    assertEquals(List.of(1L, AHEAD + 1, AHEAD + 1), run(reads.acquire(BESIDE, LEASE, false, 0)));
    run(reads.release(BESIDE));
    run(reads.release(READER));
    assertEquals(AHEAD + 2, write(OTHER, 1));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aLateRepetitionOfTheWriterLeavesTheTokenOfItsReader(boolean fair) {
    LockProtocol writer = ReadWriteProtocols.writer(name.value(), fair);
    run(writer.acquire(WRITER, LEASE, true, 0));
    LockProtocol below = below(AHEAD + 1, AHEAD + 1);
    assertEquals(List.of(1L, AHEAD + 1, AHEAD + 1), run(below.acquire(READER, LEASE, false, 0)));
    assertEquals(1L, run(writer.acquire(WRITER, LEASE, true, 0)).get(0));
    run(writer.release(WRITER));
    assertEquals(List.of(1L, AHEAD + 1, AHEAD + 1), run(reads.acquire(BESIDE, LEASE, false, 0)));
  }

  /**
   * It has held for longer than tokens are retained: the readers beside it have its token, not the
   * clock.
   */
  @Test
  void aWriterThatReadsMakesItsTokenKnownAgain() {
    run(writes.acquire(WRITER, LEASE, true, 15));
    redis.jedis().del(name.tokenKey());
    assertEquals(List.of(1L, 7L, 0L), run(below(7, 22).acquire(READER, LEASE, false, 0)));
    run(writes.release(WRITER));
    assertEquals(List.of(1L, 7L, 7L), run(reads.acquire(BESIDE, LEASE, false, 0)));
  }

  @Test
  void nothingIsGivenBackWhenTheLastTokenIsAnother() {
    run(writes.acquire(WRITER, LEASE, true, 15));
    String raised = Long.toString(AHEAD + 40);
    redis.jedis().set(name.tokenKey(), raised);
    run(below(AHEAD + 1, AHEAD + 16).acquire(READER, LEASE, false, 0));
    assertEquals(raised, redis.jedis().get(name.tokenKey()));
    run(below(AHEAD + 1, -1).acquire(READER, LEASE, false, 0));
    assertEquals(raised, redis.jedis().get(name.tokenKey()));
  }
}
