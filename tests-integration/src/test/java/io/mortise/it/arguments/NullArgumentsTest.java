package io.mortise.it.arguments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.reflect.ClassPath;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.Acknowledgement;
import io.mortise.core.ConnectionSecurity;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.fencing.FencedStore;
import io.mortise.micrometer.LockMetrics;
import io.mortise.micrometer.ObservedLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * An argument that is null is refused at once, with the name of its parameter, and nothing is sent
 * for it: by the constructors and static methods of all public classes, and by the methods of the
 * objects that a user has.
 */
@Timeout(120)
class NullArgumentsTest {
  /** The packages for users; io.mortise.core.spi is for those who write a lock family. */
  private static final Set<String> PACKAGES =
      Set.of(
          "io.mortise.core",
          "io.mortise.fairlock",
          "io.mortise.rwlock",
          "io.mortise.multilock",
          "io.mortise.redlock",
          "io.mortise.segmentedlock",
          "io.mortise.fencing",
          "io.mortise.micrometer",
          "io.mortise.testkit");

  private static final HoldLog.Entry ENTRY =
      new HoldLog.Entry("name", "holder", 1, 1, HoldLog.Mode.EXCLUSIVE, 1, OptionalLong.empty());

  /** A process that ends with its input. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws IOException {
      var unused = System.in.readAllBytes();
    }
  }

  /** Nobody listens there. */
  private static final int NO_PORT = 1;

  @TempDir private Path directory;
  @AutoClose private final InMemoryRedis redis = InMemoryRedis.start();
  @AutoClose private final RedisClient jedis = RedisClient.create("127.0.0.1", NO_PORT);
  private final LockClient client = redis.client();
  private final NullArguments nulls = new NullArguments();

  @BeforeEach
  void addSamples() throws Exception {
    RedisLock lock = new RedisLock(client, "sample");
    nulls
        .sample(DistributedLock.class, lock)
        .sample(DistributedLock[].class, new DistributedLock[] {lock})
        .sample(LockClient.class, client)
        .sample(LockOptions.class, LockOptions.defaults())
        .sample(ConnectionSecurity.class, ConnectionSecurity.NONE)
        .sample(Acknowledgement.class, Acknowledgement.NONE)
        .sample(LeaseLoss.class, new LeaseLoss("a", 1, LeaseLoss.Reason.EXPIRED, 0, "why"))
        .sample(UnifiedJedis.class, jedis)
        .sample(SSLContext.class, SSLContext.getDefault())
        .sample(MeterRegistry.class, new SimpleMeterRegistry())
        .sample(ObservationRegistry.class, ObservationRegistry.create())
        .sample(Path.class, directory.resolve("file"))
        .sample(HoldLog.Entry.class, ENTRY)
        .sample(JavaProcess[].class, new JavaProcess[0])
        .sample(RedisServer[].class, new RedisServer[0]);
  }

  private static List<Class<?>> publicClasses() throws IOException {
    List<Class<?>> classes = new ArrayList<>();
    for (String name : PACKAGES) {
      ClassPath.from(NullArgumentsTest.class.getClassLoader()).getTopLevelClasses(name).stream()
          .filter(type -> !type.url().toString().contains("test-classes"))
          .map(ClassPath.ClassInfo::load)
          .forEach(type -> addPublic(type, classes));
    }
    assertTrue(classes.size() > 50, classes::toString);
    return classes;
  }

  private static void addPublic(Class<?> type, List<Class<?>> classes) {
    if (Modifier.isPublic(type.getModifiers())) {
      classes.add(type);
      Stream.of(type.getDeclaredClasses()).forEach(nested -> addPublic(nested, classes));
    }
  }

  private static void assertNone(List<String> accepted) {
    assertEquals("", String.join("\n", accepted.stream().sorted().toList()));
  }

  @Test
  void constructorsAndStaticMethodsRefuseThem() throws Exception {
    List<String> accepted = new ArrayList<>();
    for (Class<?> type : publicClasses()) {
      accepted.addAll(nulls.acceptedByClass(type));
    }
    assertNone(accepted);
  }

  private List<DistributedLock> locks() {
    RedisLock plain = new RedisLock(client, "plain");
    RedisReadWriteLock both = new RedisReadWriteLock(client, "both");
    return List.of(
        plain,
        plain.withLease(Duration.ofSeconds(20)),
        new RedisFairLock(client, "fair"),
        both.readLock(),
        both.writeLock(),
        new MultiLock(plain),
        new RedLock(plain),
        ObservedLock.of(plain, ObservationRegistry.create()));
  }

  @Test
  void locksRefuseThemBeforeAnythingIsSent() {
    List<String> accepted = new ArrayList<>();
    for (DistributedLock lock : locks()) {
      accepted.addAll(nulls.acceptedBy(lock));
    }
    accepted.addAll(nulls.acceptedBy(new SegmentedLock(client, "segmented", 2)));
    accepted.addAll(nulls.acceptedBy(client));
    assertNone(accepted);
    assertEquals(0L, redis.command("DBSIZE"));
  }

  @Test
  void leasesRefuseThem() {
    List<String> accepted = new ArrayList<>();
    for (DistributedLock lock : locks()) {
      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        accepted.addAll(nulls.acceptedBy(lease));
        assertTrue(lease.isValid());
      }
    }
    SegmentedLock segmented = new SegmentedLock(client, "segmented", 2);
    try (SegmentLease lease = segmented.tryAcquireAny().orElseThrow()) {
      accepted.addAll(nulls.acceptedBy(lease));
    }
    assertNone(accepted);
  }

  @Test
  void buildersRefuseThem() {
    List<String> accepted = new ArrayList<>();
    LockOptions.Builder options = LockOptions.builder();
    options.tuning(tuning -> accepted.addAll(nulls.acceptedBy(tuning)));
    accepted.addAll(nulls.acceptedBy(options));
    for (Object builder :
        List.of(
            Acknowledgement.NONE,
            ConnectionSecurity.builder(),
            LockEvent.builder(LockEvent.Type.LOST, "client", Instant.EPOCH),
            RedLock.builder(),
            LockMetrics.builder(),
            JavaProcess.builder(String.class),
            RedisServer.builder(),
            RedisCluster.builder(),
            RedisSentinels.builder())) {
      accepted.addAll(nulls.acceptedBy(builder));
    }
    assertNone(accepted);
  }

  @Test
  void aClientThatIsNullAddsNoMemberOfAQuorum() {
    RedLock.Builder builder = RedLock.builder();
    List<LockClient> clients = Arrays.asList(client, null);
    assertThrows(NullPointerException.class, () -> builder.members("sample", clients));
    assertThrows(IllegalArgumentException.class, builder::build, "it has no member");
  }

  @Test
  void metersAndStoresRefuseThem() {
    List<String> accepted = new ArrayList<>();
    try (LockMetrics metrics = LockMetrics.create()) {
      accepted.addAll(nulls.acceptedBy(metrics));
    }
    nulls.sample(Lease.class, new RedisLock(client, "fenced").tryAcquire().orElseThrow());
    accepted.addAll(nulls.acceptedBy(new FencedStore(jedis, "resource")));
    assertNone(accepted);
  }

  @Test
  void theTestKitRefusesThem() throws Exception {
    List<String> accepted = new ArrayList<>(nulls.acceptedBy(redis));
    try (HoldLog log = HoldLog.open(directory.resolve("log"));
        FaultProxy proxy = FaultProxy.to("127.0.0.1", NO_PORT);
        JavaProcess process = JavaProcess.start(Child.class);
        RedisServer server = RedisServer.start();
        RedisCluster cluster = RedisCluster.builder().masters(2).replicas(0).start();
        RedisSentinels sentinels = RedisSentinels.builder().replicas(0).sentinels(1).start()) {
      for (Object target : List.of(log, proxy, process, server)) {
        accepted.addAll(nulls.acceptedBy(target));
      }
      RedisServer other =
          cluster.masters().stream()
              .filter(master -> master != cluster.masterOf("sample"))
              .findFirst()
              .orElseThrow();
      nulls.sample(RedisServer.class, other); // for a move of the slot, which must not begin
      accepted.addAll(nulls.acceptedBy(cluster));
      nulls.sample(RedisServer.class, sentinels.master());
      accepted.addAll(nulls.acceptedBy(sentinels));
      assertTrue(process.isRunning());
      assertNotSame(other, cluster.masterOf("sample"));
    }
    assertNone(accepted);
  }
}
