package io.mortise.core;

import com.google.common.base.Utf8;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The options of a {@link LockClient}.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(10)).build();
 * }</pre>
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public final class LockOptions {
  /** The longest lease and the longest wait: 365 days. A longer wait counts as this one. */
  public static final Duration MAX_LEASE = Durations.MAX;

  private static final int MAX_NAMESPACE = 512;
  private static final Duration MIN_DEFAULT_LEASE = Duration.ofMillis(100);

  private final Values values;

  private record Values(
      String namespace,
      Duration lease,
      Duration maxHold,
      Duration outageTimeout,
      Duration commandTimeout,
      Acknowledgement acknowledgement,
      boolean traceLeases,
      List<LockListener> listeners,
      LockTuning tuning) {}

  private LockOptions(Builder builder) {
    checkNamespace(builder.namespace);
    Durations.checkWithin("lease", builder.lease, MIN_DEFAULT_LEASE, MAX_LEASE);
    Durations.checkWithin("maxHold", builder.maxHold, builder.lease, MAX_LEASE);
    Durations.checkWithin("outageTimeout", builder.outageTimeout, Duration.ZERO, MAX_LEASE);
    Durations.checkWithin(
        "commandTimeout", builder.commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(10));
    this.values =
        new Values(
            builder.namespace,
            builder.lease,
            builder.maxHold,
            builder.outageTimeout,
            builder.commandTimeout,
            builder.acknowledgement,
            builder.traceLeases,
            List.copyOf(builder.listeners),
            builder.tuning.build());
  }

  private static void checkNamespace(String namespace) {
    if (namespace.length() > MAX_NAMESPACE) {
      throw new IllegalArgumentException(
          "namespace has at most %d characters, not %d"
              .formatted(MAX_NAMESPACE, namespace.length()));
    }
    int brace = namespace.indexOf('{');
    if (brace >= 0 && namespace.indexOf('}', brace) <= brace + 1) {
      throw new IllegalArgumentException(
          ("namespace '%s' has a '{' that makes no hash tag; close it with a '}' and something in"
                  + " between, or leave it out")
              .formatted(namespace));
    }
    try {
      var unused = Utf8.encodedLength(namespace);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "namespace '%s' has half of a surrogate pair (%s); cut it between two code points"
              .formatted(namespace, e.getMessage()),
          e);
    }
  }

  /** Returns the default options. */
  public static LockOptions defaults() {
    return builder().build();
  }

  /** Returns a builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder that starts from these options. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /**
   * Returns the beginning of all names of the client's locks; default empty. With {@code
   * "billing:"} the lock {@code orders} has the name, and the key, {@code billing:orders}; the
   * other keys and channels of the lock contain that name. A Redisson peer reaches the same lock
   * under the whole name, or with a {@code NameMapper} that adds the same beginning.
   *
   * <p>At most 512 characters. An opening brace in it has to make a hash tag, as in {@code
   * {billing}:}, which puts all locks of the client into one slot of a cluster: the closing brace
   * follows in the namespace itself, with something in between.
   */
  public String namespace() {
    return values.namespace();
  }

  /**
   * Returns how long a hold lasts in Redis without renewal, when the caller gives no lease; it is
   * renewed at a third of it. Longer: a crashed holder blocks the others for longer. Shorter: less
   * time to get over a fault. Default 30 s, at least 100 ms.
   */
  public Duration lease() {
    return values.lease();
  }

  /**
   * Returns the time after which a hold is not renewed any more, so that a stuck holder loses it
   * when its lease ends; until then it is verified as before. It does not limit a lease that the
   * caller gives: a re-entry that needs the hold renewed puts it at risk only when no more than
   * {@link #lease()} is left. Default 365 days, in effect never.
   */
  public Duration maxHold() {
    return values.maxHold();
  }

  /**
   * Returns how long an unbounded wait ({@code lock()}) goes on while Redis cannot be used; default
   * 10 s.
   */
  public Duration outageTimeout() {
    return values.outageTimeout();
  }

  /**
   * Returns how long one command may take; default 2 s. For a client created from the caller's
   * {@code UnifiedJedis}, connecting follows the settings of that client.
   */
  public Duration commandTimeout() {
    return values.commandTimeout();
  }

  /**
   * Returns which replicas and disks have to confirm an acquisition before it counts; default
   * {@link Acknowledgement#NONE}.
   */
  public Acknowledgement acknowledgement() {
    return values.acknowledgement();
  }

  /**
   * Returns whether a {@link Lease} records where it was acquired, for the warning about a lease
   * that was dropped without {@code close()}; costs a stack trace for each lease. Default false.
   */
  public boolean traceLeases() {
    return values.traceLeases();
  }

  /**
   * Returns the listeners that are notified of all events, in the order in which they are called;
   * default none.
   */
  public List<LockListener> listeners() {
    return values.listeners();
  }

  /** Returns the options that are rarely set. */
  public LockTuning tuning() {
    return values.tuning();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LockOptions that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return values.toString().replaceFirst("Values", "LockOptions");
  }

  /**
   * Builds options; those that are not set keep their default.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private final LockTuning.Builder tuning;
    private final List<LockListener> listeners = new ArrayList<>();
    private String namespace = "";
    private Duration lease = Duration.ofSeconds(30);
    private Duration maxHold = MAX_LEASE;
    private Duration outageTimeout = Duration.ofSeconds(10);
    private Duration commandTimeout = Duration.ofSeconds(2);
    private Acknowledgement acknowledgement = Acknowledgement.NONE;
    private boolean traceLeases;

    private Builder() {
      this.tuning = new LockTuning.Builder();
    }

    private Builder(LockOptions options) {
      this.tuning = new LockTuning.Builder(options.tuning());
      this.namespace = options.namespace();
      this.lease = options.lease();
      this.maxHold = options.maxHold();
      this.outageTimeout = options.outageTimeout();
      this.commandTimeout = options.commandTimeout();
      this.acknowledgement = options.acknowledgement();
      this.traceLeases = options.traceLeases();
      this.listeners.addAll(options.listeners());
    }

    /** See {@link LockOptions#namespace()}. */
    public Builder namespace(String namespace) {
      this.namespace = Objects.requireNonNull(namespace, "namespace");
      return this;
    }

    /** See {@link LockOptions#lease()}. */
    public Builder lease(Duration lease) {
      this.lease = Objects.requireNonNull(lease, "lease");
      return this;
    }

    /** See {@link LockOptions#maxHold()}. */
    public Builder maxHold(Duration maxHold) {
      this.maxHold = Objects.requireNonNull(maxHold, "maxHold");
      return this;
    }

    /** See {@link LockOptions#outageTimeout()}. */
    public Builder outageTimeout(Duration outageTimeout) {
      this.outageTimeout = Objects.requireNonNull(outageTimeout, "outageTimeout");
      return this;
    }

    /** See {@link LockOptions#commandTimeout()}. */
    public Builder commandTimeout(Duration commandTimeout) {
      this.commandTimeout = Objects.requireNonNull(commandTimeout, "commandTimeout");
      return this;
    }

    /** See {@link LockOptions#acknowledgement()}. */
    public Builder acknowledgement(Acknowledgement acknowledgement) {
      this.acknowledgement = Objects.requireNonNull(acknowledgement, "acknowledgement");
      return this;
    }

    /** See {@link LockOptions#traceLeases()}. */
    public Builder traceLeases(boolean traceLeases) {
      this.traceLeases = traceLeases;
      return this;
    }

    /** Adds a listener; see {@link LockOptions#listeners()}. */
    public Builder listener(LockListener listener) {
      this.listeners.add(Objects.requireNonNull(listener, "listener"));
      return this;
    }

    /** Sets options that are rarely set; see {@link LockOptions#tuning()}. */
    public Builder tuning(Consumer<LockTuning.Builder> settings) {
      Objects.requireNonNull(settings, "settings").accept(tuning);
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a value is out of its range; the message names it
     */
    public LockOptions build() {
      return new LockOptions(this);
    }
  }
}
