package io.mortise.fencing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * A resource in Redis that remembers the largest fencing token it has seen, and rejects a write
 * with a smaller one. So a holder that was suspended for longer than its lease can do no harm,
 * however late it resumes: the check and the write are one atomic step.
 *
 * <pre>{@code
 * FencedStore stock = new FencedStore(jedis, "stock:{42}");
 * try (Lease lease = lock.acquire(Duration.ofSeconds(5)).orElseThrow()) {
 *   stock.execute(lease, Command.SET, "amount:{42}", "17");
 *   stock.eval(lease, "return redis.call('INCRBY', KEYS[1], ARGV[1])",
 *       List.of("sold:{42}"), List.of("3"));
 * }
 * }</pre>
 *
 * <p>All data that the lock protects has to be written through this class, and under one resource
 * name: a write that bypasses it is not checked. A read needs no token, unless a write depends on
 * it that is not part of the same script.
 *
 * <p>The resource may be on another Redis than the lock.
 *
 * <p><b>Errors.</b> {@link StaleTokenException} when the token is smaller than one that the
 * resource has seen; nothing is written then. Exceptions of Jedis are thrown unchanged: when a
 * connection breaks it is unknown whether the write was made, and a client that repeats commands by
 * itself (a cluster's) may make it twice. One is {@link JedisDataException} with the code {@code
 * FENCETYPE}: the key below has a value that is no token, and nothing is written.
 *
 * <p><b>In Redis:</b> {@code mortise_fence:{resource}} holds the largest token, without expiry
 * unless a retention is given. Give all stores of one resource the same retention. Of different
 * ones the longest counts, and a key that has no expiry keeps none: the others need their token so
 * long. On a cluster the key must share the slot of the keys that are written: give the resource's
 * name the same hash tag.
 *
 * <p><b>What is not guaranteed.</b> If that key is lost (deleted, evicted, not replicated before a
 * failover), the next token is accepted, whichever it is.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method. Redis orders the writes.
 */
public final class FencedStore {
  private static final Script COMMAND = Script.load("fence/command");
  private static final String SCRIPT_PLACEHOLDER = "do local the_script end";
  private static final String GUARD = guard();

  /** Lua in Redis has only doubles, which leave out whole numbers from here on. */
  private static final long TOKEN_END = 1L << 53;

  private static final Pattern TOKEN = Pattern.compile("[0-9]{1,16}");

  /** Lua in Redis passes fewer than 8,000 values to a function. */
  private static final int MAX_WORDS = 7_000;

  private static final Duration MIN_RETENTION = Duration.ofSeconds(1);

  private final UnifiedJedis jedis;
  private final String resource;
  private final String fenceKey;
  private final String retentionMillis;

  /**
   * Creates the store of that resource, which keeps the largest token for ever. Sends nothing.
   *
   * @param resource its name, with or without a hash tag
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, has an
   *     opening brace that makes no hash tag, or half of a surrogate pair
   */
  public FencedStore(UnifiedJedis jedis, String resource) {
    this(jedis, resource, 0);
  }

  /**
   * Creates the store of a short-lived resource, which forgets the largest token after a time
   * without writes. Sends nothing.
   *
   * @param tokenRetention from 1 s to 365 days; must be longer than the delay of the latest write
   *     that may still arrive
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, has an
   *     opening brace that makes no hash tag or half of a surrogate pair, or the retention is out
   *     of its range
   */
  public FencedStore(UnifiedJedis jedis, String resource, Duration tokenRetention) {
    this(jedis, resource, checked(tokenRetention).toMillis());
  }

  private FencedStore(UnifiedJedis jedis, String resource, long retentionMillis) {
    this.jedis = Objects.requireNonNull(jedis, "jedis");
    if (Objects.requireNonNull(resource, "resource").isBlank()) {
      throw new IllegalArgumentException("a resource needs a name that is not blank");
    }
    this.resource = resource;
    this.fenceKey = new LockName(resource).derive("mortise_fence");
    this.retentionMillis = Long.toString(retentionMillis);
  }

  private static Duration checked(Duration tokenRetention) {
    Objects.requireNonNull(tokenRetention, "tokenRetention");
    if (tokenRetention.compareTo(MIN_RETENTION) < 0
        || tokenRetention.compareTo(LockOptions.MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "tokenRetention must be from %s to %s, not %s"
              .formatted(MIN_RETENTION, LockOptions.MAX_LEASE, tokenRetention));
    }
    return tokenRetention;
  }

  /** Returns the name of the resource. */
  public String resource() {
    return resource;
  }

  /** As {@link #execute(long, ProtocolCommand, String, String...)}, with the token of the lease. */
  public @Nullable Object execute(
      Lease lease, ProtocolCommand command, String key, String... arguments) {
    return execute(tokenOf(lease), command, key, arguments);
  }

  /**
   * Runs a command if the resource has seen no larger token, and remembers this one.
   *
   * @param token the token of the lease under which it is written; more than 0, less than 2^53
   * @param command one that takes a key first, and that a script may call
   * @return the reply of the command, as Jedis decodes it
   * @throws StaleTokenException if the resource has seen a larger token; nothing was written
   * @throws IllegalArgumentException if the token is out of its range, or the command has more than
   *     7,000 words, its name and key included; {@link #eval} has no such limit
   */
  public @Nullable Object execute(
      long token, ProtocolCommand command, String key, String... arguments) {
    Objects.requireNonNull(command, "command");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(arguments, "arguments");
    List<String> words = new ArrayList<>();
    words.add(new String(command.getRaw(), UTF_8));
    words.add(key);
    words.addAll(List.of(arguments));
    if (words.size() > MAX_WORDS) {
      throw new IllegalArgumentException(
          "a fenced command has at most %d words, not %d: split it, or run a script"
              .formatted(MAX_WORDS, words.size()));
    }
    return parseReply(token, evalCommand(keys(List.of(key)), arguments(token, words)));
  }

  /** As {@link #eval(long, String, List, List)}, with the token of the lease. */
  public @Nullable Object eval(
      Lease lease, String script, List<String> keys, List<String> arguments) {
    return eval(tokenOf(lease), script, keys, arguments);
  }

  /**
   * Runs a script if the resource has seen no larger token, and remembers this one.
   *
   * @param token the token of the lease under which it is written; more than 0, less than 2^53
   * @param script Lua as for EVAL, without a line {@code #!}; it sees these keys and arguments
   * @return the reply of the script, as Jedis decodes it
   * @throws StaleTokenException if the resource has seen a larger token; the script was not run
   * @throws IllegalArgumentException if the token is out of its range, or the script begins with
   *     {@code #!}
   */
  public @Nullable Object eval(
      long token, String script, List<String> keys, List<String> arguments) {
    Objects.requireNonNull(script, "script");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(arguments, "arguments");
    if (script.startsWith("#!")) {
      throw new IllegalArgumentException(
          "a guarded script is embedded in another one, and cannot begin with '#!'");
    }
    String text = GUARD.replace(SCRIPT_PLACEHOLDER, script);
    return parseReply(token, jedis.eval(text, keys(keys), arguments(token, arguments)));
  }

  private static long tokenOf(Lease lease) {
    return Objects.requireNonNull(lease, "lease").fencingToken();
  }

  /** Returns the text around the script of a user; refuses one without a place for it. */
  private static String guard() {
    String text = new String(Script.load("fence/script").text(), UTF_8);
    if (!text.contains(SCRIPT_PLACEHOLDER)) {
      throw new IllegalStateException("fence/script has no line " + SCRIPT_PLACEHOLDER);
    }
    return text;
  }

  private Object evalCommand(List<String> keys, List<String> arguments) {
    try {
      return jedis.evalsha(new String(COMMAND.sha1(), UTF_8), keys, arguments);
    } catch (JedisNoScriptException unknown) {
      return jedis.eval(new String(COMMAND.text(), UTF_8), keys, arguments);
    }
  }

  private List<String> keys(List<String> keys) {
    List<String> all = new ArrayList<>(List.of(fenceKey));
    all.addAll(keys);
    return all;
  }

  private List<String> arguments(long token, List<String> arguments) {
    if (token <= 0 || token >= TOKEN_END) {
      throw new IllegalArgumentException(
          "a fencing token is more than 0 and less than 2^53, not %d: Redis compares larger ones inexactly"
              .formatted(token));
    }
    List<String> all = new ArrayList<>(List.of(Long.toString(token), retentionMillis));
    all.addAll(arguments);
    return all;
  }

  private @Nullable Object parseReply(long token, Object reply) {
    List<?> answer = (List<?>) reply;
    if ((Long) answer.get(0) == 0) {
      throw new StaleTokenException(resource, token, (Long) answer.get(1));
    }
    return answer.get(1);
  }

  /** Returns the largest token that the resource has seen; empty if none. One round trip. */
  public OptionalLong lastToken() {
    String last = jedis.get(fenceKey);
    if (last == null) {
      return OptionalLong.empty();
    }
    if (!TOKEN.matcher(last).matches() || Long.parseLong(last) >= TOKEN_END) { // as the scripts do
      throw new JedisDataException(
          "FENCETYPE the value of '%s' is no fencing token; use another resource name, or set it to the last token"
              .formatted(fenceKey));
    }
    return OptionalLong.of(Long.parseLong(last));
  }

  @Override
  public String toString() {
    return "fenced store '" + resource + "'";
  }
}
