package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.Acknowledgement;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the auto-configured client and of locked methods.
 *
 * @param enabled Whether to configure a client for distributed locks. Without a client, methods
 *     with the annotation 'Locked' run without locks.
 * @param redis Where Redis is.
 * @param namespace Beginning of the names of all locks, such as 'billing:'.
 * @param lease How long a hold lasts in Redis without renewal; renewed at a third of it.
 * @param maxHold Time after which a hold is not renewed any more, so that a stuck holder loses it.
 * @param outageTimeout How long an unbounded wait goes on while Redis cannot be used.
 * @param commandTimeout How long one command to Redis may take.
 * @param traceLeases Whether a lease records where it was acquired, for warnings about dropped
 *     ones.
 * @param acknowledgement The replicas and disks that have to confirm an acquisition.
 * @param tuning Settings that are rarely changed.
 * @param locked Methods with the annotation 'Locked'.
 * @param lockRegistry The lock registry of Spring Integration.
 */
@ConfigurationProperties("mortise")
record MortiseProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue Redis redis,
    @DefaultValue("") String namespace,
    @DefaultValue("30s") Duration lease,
    @DefaultValue("365d") Duration maxHold,
    @DefaultValue("10s") Duration outageTimeout,
    @DefaultValue("2s") Duration commandTimeout,
    @DefaultValue("false") boolean traceLeases,
    @DefaultValue AcknowledgementProperties acknowledgement,
    @DefaultValue Tuning tuning,
    @DefaultValue LockedProperties locked,
    @DefaultValue LockRegistryProperties lockRegistry) {

  /** The property of each option, by the name with which a refusal begins. */
  private static final Map<String, String> PROPERTIES =
      Map.ofEntries(
          Map.entry("namespace", "mortise.namespace"),
          Map.entry("lease", "mortise.lease"),
          Map.entry("maxHold", "mortise.max-hold"),
          Map.entry("outageTimeout", "mortise.outage-timeout"),
          Map.entry("commandTimeout", "mortise.command-timeout"),
          Map.entry("replicas", "mortise.acknowledgement.replicas"),
          Map.entry("within", "mortise.acknowledgement.within"),
          Map.entry("maxConnections", "mortise.tuning.max-connections"),
          Map.entry("subscriptionLinger", "mortise.tuning.subscription-linger"),
          Map.entry("tokenRetention", "mortise.tuning.token-retention"),
          Map.entry("clockDrift", "mortise.tuning.clock-drift"),
          Map.entry("maxHandOffs", "mortise.tuning.max-hand-offs"),
          Map.entry("maxHandOffTime", "mortise.tuning.max-hand-off-time"));

  /** Returns the options that these properties say. */
  LockOptions.Builder toOptions() {
    return LockOptions.builder()
        .namespace(namespace)
        .lease(lease)
        .maxHold(maxHold)
        .outageTimeout(outageTimeout)
        .commandTimeout(commandTimeout)
        .traceLeases(traceLeases)
        .acknowledgement(acknowledgement.toAcknowledgement())
        .tuning(
            it ->
                it.maxConnections(tuning.maxConnections)
                    .subscriptionLinger(tuning.subscriptionLinger)
                    .tokenRetention(tuning.tokenRetention)
                    .clockDrift(tuning.clockDrift)
                    .maxHandOffs(tuning.maxHandOffs)
                    .maxHandOffTime(tuning.maxHandOffTime));
  }

  /**
   * Returns what to throw in place of the refusal of an option: where these properties have that
   * value, the exception names the property; otherwise a customizer gave it.
   */
  RuntimeException explain(IllegalArgumentException refusal) {
    try {
      LockOptions unused = toOptions().build();
      return refusal;
    } catch (IllegalArgumentException ofProperties) {
      // "lease must be from PT0.1S to PT8760H, not PT0.01S"
      String[] message = String.valueOf(ofProperties.getMessage()).split(" ", 2);
      String property = PROPERTIES.get(message[0]);
      return property == null || message.length < 2
          ? refusal
          : new InvalidPropertyException(property, property + " " + message[1], ofProperties);
    }
  }

  /**
   * The address of Redis.
   *
   * @param uri One server, 'redis://[[user]:password@]host[:port][/database]'; several hosts for a
   *     cluster; 'redis-sentinel://host1,host2/0#master' for sentinels; 'rediss' for TLS. Without
   *     it the Jedis client of the application is used, or the connection of 'spring.data.redis',
   *     or redis://localhost:6379.
   */
  record Redis(@Nullable String uri) {
    /** Without the URI, which may have a password. */
    @Override
    public String toString() {
      return uri == null ? "Redis[]" : "Redis[uri=...]";
    }
  }

  /**
   * The replicas and disks that have to confirm an acquisition.
   *
   * @param replicas Number of replicas that have to acknowledge an acquisition.
   * @param onDisks Whether the acquisition also has to be in the append-only files.
   * @param within How long to wait for the acknowledgements.
   */
  record AcknowledgementProperties(
      @DefaultValue("0") int replicas,
      @DefaultValue("false") boolean onDisks,
      @DefaultValue("500ms") Duration within) {

    Acknowledgement toAcknowledgement() {
      Acknowledgement acknowledgement = Acknowledgement.ofReplicas(replicas).within(within);
      return onDisks ? acknowledgement.onDisks() : acknowledgement;
    }
  }

  /**
   * Settings that are rarely changed.
   *
   * @param maxConnections Largest number of connections in use at a time.
   * @param subscriptionLinger How long a channel stays subscribed after its last waiter.
   * @param tokenRetention How long Redis keeps the last fencing token of an unused name.
   * @param clockDrift By how much the clocks of client and server may differ in rate.
   * @param maxHandOffs How often a hold may pass from thread to thread without Redis.
   * @param maxHandOffTime For how long a hold may pass from thread to thread.
   */
  record Tuning(
      @DefaultValue("64") int maxConnections,
      @DefaultValue("5s") Duration subscriptionLinger,
      @DefaultValue("10m") Duration tokenRetention,
      @DefaultValue("0.01") double clockDrift,
      @DefaultValue("100") int maxHandOffs,
      @DefaultValue("20ms") Duration maxHandOffTime) {}

  /**
   * Methods with the annotation 'Locked'.
   *
   * @param enabled Whether calls of such methods take their locks.
   * @param waitTime How long a call waits for the lock, unless its annotation says so; zero makes
   *     one attempt, and less is refused.
   * @param observed Whether a wait for such a lock is an observation, for traces and metrics, where
   *     'mortise-micrometer' and an 'ObservationRegistry' are there.
   * @param order Place of the advice among those of a method; lower is further outside. The default
   *     is outside of transactions and caches.
   */
  record LockedProperties(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("10s") Duration waitTime,
      @DefaultValue("true") boolean observed,
      @DefaultValue(DEFAULT_ORDER) int order) {
    static final String DEFAULT_ORDER = "2147483547"; // Ordered.LOWEST_PRECEDENCE - 100

    LockedProperties {
      if (waitTime.isNegative()) {
        throw new IllegalArgumentException(
            "mortise.locked.wait-time '%s' is negative; 0s makes one attempt".formatted(waitTime));
      }
    }
  }

  /**
   * The lock registry of Spring Integration.
   *
   * @param prefix Beginning of the names of its locks, after the namespace.
   */
  record LockRegistryProperties(@DefaultValue("integration:") String prefix) {}
}
