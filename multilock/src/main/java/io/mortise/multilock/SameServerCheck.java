package io.mortise.multilock;

import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.RedisDeployment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * Refuses members that are one lock in Redis, because two addresses lead to one server: they would
 * wait for each other. Asks the servers for their ids, and only those of members with equal names.
 *
 * <p>Each server is asked once for each acquisition until it has answered, for at most half of the
 * rest of the wait, so that the other half remains for the members. One that does not answer counts
 * as a server of its own, and is asked again by the next acquisition.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires.
 */
final class SameServerCheck {
  /** A key of a member, which has several if it is a composite lock itself. */
  private record MemberKey(LeaseSource member, LockKey key) {}

  private final Map<RedisDeployment, Optional<String>> ids = new HashMap<>();
  private final LeaseTerms terms;
  private final CallerWait wait;

  SameServerCheck(LeaseTerms terms, CallerWait wait) {
    this.terms = terms;
    this.wait = wait;
  }

  /**
   * @throws IllegalStateException if two members are one lock in Redis
   */
  void check(List<LeaseSource> members) {
    findOne(members, this::isOne)
        .ifPresent(
            message -> {
              throw new IllegalStateException(message);
            });
  }

  /**
   * Compares the addresses, and asks nobody.
   *
   * @throws IllegalArgumentException if two members are one lock in Redis
   */
  static void checkAddresses(List<LeaseSource> members) {
    findOne(members, LockKey::sharesAddress)
        .ifPresent(
            message -> {
              throw new IllegalArgumentException(message);
            });
  }

  /**
   * Returns the message about two members that are one lock in Redis, if there are any.
   *
   * @param isOne tests whether two keys with one name are one key in Redis
   */
  private static Optional<String> findOne(
      List<LeaseSource> members, BiPredicate<LockKey, LockKey> isOne) {
    Map<String, List<MemberKey>> byName = new HashMap<>();
    for (LeaseSource member : members) {
      for (LockKey key : member.keys()) {
        List<MemberKey> sameName = byName.computeIfAbsent(key.name(), name -> new ArrayList<>());
        for (MemberKey other : sameName) {
          if (other.member != member && isOne.test(other.key, key)) {
            return Optional.of(
                "members '%s' and '%s' are one lock in Redis, and would wait for each other; give one of them"
                    .formatted(other.member, member));
          }
        }
        sameName.add(new MemberKey(member, key));
      }
    }
    return Optional.empty();
  }

  private boolean isOne(LockKey one, LockKey other) {
    return idOf(one.deployment())
        .filter(id -> idOf(other.deployment()).equals(Optional.of(id)))
        .isPresent();
  }

  private Optional<String> idOf(RedisDeployment server) {
    return ids.computeIfAbsent(server, asked -> asked.serverId(withinNanos()));
  }

  /** A single attempt waits for a reply as long as the client allows. */
  private long withinNanos() {
    return terms.waitNanos() == 0 ? LeaseTerms.FOREVER : Math.max(0, wait.leftNanos() / 2);
  }
}
