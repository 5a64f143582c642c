package io.mortise.it.support;

import static io.mortise.it.support.Elapsed.millisOf;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A client of the shared server, connected through a proxy or directly, and its lock of a fresh
 * name. An instance field of a test class: each test has its own, which is closed after it.
 */
public final class LockFixture implements AfterEachCallback {
  private static final long PROMPT_MILLIS = 4_000;
  private static final Duration FOR_EVER = Duration.ofHours(1);

  private final SharedRedis redis;
  private final FaultProxy proxy; // null if the client is connected directly
  private final String name = Names.fresh();
  private boolean warm;
  private boolean leavesNothing;
  private LockClient client;
  private RedisLock lock;
  private LockClient otherClient;

  private LockFixture(SharedRedis redis, FaultProxy proxy, LockOptions.Builder options) {
    this.redis = redis;
    this.proxy = proxy;
    open(options);
  }

  /** A client whose only way to the server is a proxy. */
  public static LockFixture proxied(SharedRedis redis, LockOptions.Builder options) {
    return new LockFixture(redis, FaultProxy.to(redis.server()), options);
  }

  /** A client without a proxy. */
  public static LockFixture direct(SharedRedis redis, LockOptions.Builder options) {
    return new LockFixture(redis, null, options);
  }

  /** Connects this client, and those of {@link #use} to come; the server knows the scripts. */
  public LockFixture warm() {
    warm = true;
    SharedRedis.warm(client);
    return this;
  }

  /** The test must leave an idle client, of which no channel lingers, and a free lock. */
  public LockFixture leavingNothing() {
    leavesNothing = true;
    return this;
  }

  private void open(LockOptions.Builder options) {
    client = LockClient.create(proxy == null ? redis.uri() : proxy.uri(), options.build());
    lock = new RedisLock(client, name);
  }

  /** Replaces the client by one with these options, and returns its lock. */
  public RedisLock use(LockOptions.Builder options) {
    client.close();
    open(options);
    if (warm) {
      SharedRedis.warm(client);
    }
    return lock;
  }

  public String name() {
    return name;
  }

  public FaultProxy proxy() {
    return proxy;
  }

  public LockClient client() {
    return client;
  }

  /** The client gets nothing, and what it sends does not arrive, as if its process stood still. */
  public void suspend() {
    proxy.delay(Direction.TO_CLIENT, FOR_EVER);
    proxy.delay(Direction.TO_SERVER, FOR_EVER);
  }

  public RedisLock lock() {
    return lock;
  }

  /** Returns a second client, which is connected directly and has default options. */
  public LockClient otherClient() {
    if (otherClient == null) {
      otherClient = redis.client();
    }
    return otherClient;
  }

  /** Returns the same lock of the second client. */
  public RedisLock lockOfOther() {
    return new RedisLock(otherClient(), name);
  }

  /** Starts a thread that locks and unlocks, and waits until it is parked on its subscription. */
  public AsyncCall<Void> subscribedWaiter() {
    AsyncCall<Void> waiter = AsyncCall.cycle(lock);
    redis.awaitSubscriber(name);
    return waiter.awaitParked();
  }

  /** Releases the lock as a stranger; the waiter must have it and be done promptly. */
  public void assertReleaseWakes(AsyncCall<?> waiter) throws Exception {
    redis.releaseAsStranger(name);
    assertPrompt(waiter);
  }

  /** The call must return long before a lease ends that was set for a minute. */
  public static void assertPrompt(AsyncCall<?> waiter) throws Exception {
    long took = millisOf(waiter::get);
    assertTrue(took < PROMPT_MILLIS, () -> "it took " + took + " ms");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    FaultProxy network = proxy;
    LockClient other = otherClient;
    LockClient tested = client;
    try (network) {
      if (network != null) {
        network.restore();
      }
      try (other;
          tested) {
        if (leavesNothing) {
          ClientResources.awaitNone(tested);
        }
      }
      if (leavesNothing) {
        assertFalse(redis.exists(name), "the lock stays held");
      }
    }
  }
}
