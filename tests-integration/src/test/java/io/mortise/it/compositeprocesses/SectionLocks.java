package io.mortise.it.compositeprocesses;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The locks of a {@link Section} over some servers and names. */
enum SectionLocks {
  /** A {@link RedLock}: one name, on all servers. */
  RED {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<LockClient> clients = ours(uris, lease);
      DistributedLock lock = redLock(clients, names.get(0));
      return new Section.Ours(clients, List.of(lock), Map.of(names.get(0), lock));
    }
  },
  /** As {@link #RED}, for nodes that never fail: no release is unconfirmed on a busy machine. */
  RED_PATIENT {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<LockClient> clients = ours(uris, lease);
      DistributedLock lock =
          RedLock.builder().members(names.get(0), clients).nodeWaitBudget(lease).build();
      return new Section.Ours(clients, List.of(lock), Map.of(names.get(0), lock));
    }
  },
  /** A {@link MultiLock}: the names, distributed over the servers. */
  MULTI {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<LockClient> clients = ours(uris, lease);
      DistributedLock lock = new MultiLock(members(clients, names).values());
      Map<String, DistributedLock> byName = new LinkedHashMap<>();
      names.forEach(name -> byName.put(name, lock));
      return new Section.Ours(clients, List.of(lock), byName);
    }
  },
  /** The locks of {@link #MULTI}, one after the other in the order of the names. */
  ONE_BY_ONE {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<LockClient> clients = ours(uris, lease);
      Map<String, DistributedLock> members = members(clients, names);
      return new Section.Ours(clients, List.copyOf(members.values()), members);
    }
  },
  /** Redisson's lock over the same as {@link #RED}. */
  REDISSON_RED {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<RedissonClient> clients = theirs(uris, lease);
      return new Section.Theirs(clients, redissons(clients, names.get(0)), names);
    }
  },
  /** Redisson's lock over the same as {@link #MULTI}. */
  REDISSON_MULTI {
    @Override
    Section section(List<String> uris, List<String> names, Duration lease) {
      List<RedissonClient> clients = theirs(uris, lease);
      RLock[] members =
          names.stream()
              .map(name -> clients.get(indexOf(name, names, clients)).getLock(name))
              .toArray(RLock[]::new);
      return new Section.Theirs(clients, clients.get(0).getMultiLock(members), names);
    }
  };

  /** As for a default lease; the 50 ms of a short one are too little on a busy machine. */
  private static final Duration BUDGET = Duration.ofMillis(300);

  abstract Section section(List<String> uris, List<String> names, Duration lease);

  /** Our quorum lock of that name on these nodes. */
  private static RedLock redLock(List<LockClient> clients, String name) {
    return RedLock.builder().members(name, clients).nodeWaitBudget(BUDGET).build();
  }

  private static List<LockClient> ours(List<String> uris, Duration lease) {
    LockOptions options = LockOptions.builder().lease(lease).build();
    return uris.stream().map(uri -> LockClient.create(uri, options)).toList();
  }

  private static Map<String, DistributedLock> members(
      List<LockClient> clients, List<String> names) {
    Map<String, DistributedLock> members = new LinkedHashMap<>();
    for (String name : names) {
      members.put(name, new RedisLock(clients.get(indexOf(name, names, clients)), name));
    }
    return members;
  }

  /** The same for all processes, in whichever order they have the names. */
  private static int indexOf(String name, List<String> names, List<?> clients) {
    return names.stream().sorted().toList().indexOf(name) % clients.size();
  }

  /** A client of Redisson's for each server. */
  static List<RedissonClient> theirs(List<String> uris, Duration watchdog) {
    return uris.stream().map(uri -> Redisson.create(config(uri, watchdog))).toList();
  }

  /** As {@link #theirs}, for nodes that fail: without 3 s of retries for each. */
  static List<RedissonClient> theirsWithoutRetries(List<String> uris, Duration watchdog) {
    return uris.stream()
        .map(
            uri -> {
              Config config = config(uri, watchdog);
              config.useSingleServer().setTimeout(1000).setRetryAttempts(0);
              return Redisson.create(config);
            })
        .toList();
  }

  private static Config config(String uri, Duration watchdog) {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(2).setLockWatchdogTimeout(watchdog.toMillis());
    config
        .useSingleServer()
        .setAddress(uri)
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(8)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return config;
  }

  /** Redisson's quorum lock of that name on these nodes. */
  @SuppressWarnings("deprecation") // Redisson advises against it; those who have it keep it
  static RLock redissons(List<RedissonClient> clients, String name) {
    RLock[] members = clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new);
    return clients.get(0).getRedLock(members);
  }
}
