package io.mortise.cli.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.mortise.cli.options.OptionNames;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockOptions;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * Locks as JSON:
 *
 * <pre>
 * {"at": time of this machine,
 *  "servers": [{"server": URI, "hasMore": ..., "unreadable": ..., "partial": ...,
 *   "failure": ...,
 *   "locks": [{"name": ..., "type": ..., "mode": ..., "held": ..., "token": ..., "queueLength": ...,
 *    "complete": ..., "holders": [PARTICIPANT, ...], "waiters": [PARTICIPANT, ...]}, ...]}, ...]}
 * </pre>
 *
 * <p>A holder that has released the lock, which stays busy for the rest of its minimum, has {@code
 * "released": true}. A fact that is not known has no field. A lease without an end has no {@code
 * remainingMillis}.
 */
public final class LocksJson {
  private LocksJson() {}

  /** Returns the object of all servers. */
  public static ObjectNode of(Instant at, List<Census> servers) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("at", at.toString());
    ArrayNode each = root.putArray("servers");
    servers.forEach(census -> add(each.addObject(), census));
    return root;
  }

  private static void add(ObjectNode node, Census census) {
    node.put("server", census.server());
    node.put("hasMore", census.found().hasMore());
    node.put("unreadable", census.found().unreadable());
    node.put("partial", census.found().isPartial());
    census
        .failure()
        .ifPresent(
            failure -> node.put("failure", OptionNames.in(String.valueOf(failure.getMessage()))));
    ArrayNode locks = node.putArray("locks");
    census.found().locks().forEach(lock -> add(locks.addObject(), lock));
  }

  static void add(ObjectNode node, LockInspection lock) {
    node.put("name", lock.name());
    node.put("type", LockText.type(lock));
    node.put("mode", lock.mode().name().toLowerCase(Locale.ROOT));
    node.put("held", lock.isHeld());
    lock.lastToken().ifPresent(token -> node.put("token", token));
    node.put("queueLength", lock.queueLength());
    node.put("complete", lock.isComplete());
    lock.failure()
        .ifPresent(
            failure -> node.put("failure", OptionNames.in(String.valueOf(failure.getMessage()))));
    ArrayNode holders = node.putArray("holders");
    lock.holders().forEach(holder -> add(holders.addObject(), holder));
    ArrayNode waiters = node.putArray("waiters");
    lock.waiters().forEach(waiter -> add(waiters.addObject(), waiter));
  }

  private static void add(ObjectNode node, Participant each) {
    node.put("id", each.id());
    node.put("library", each.library().name().toLowerCase(Locale.ROOT));
    node.put("access", each.access().name().toLowerCase(Locale.ROOT));
    each.clientId().ifPresent(id -> node.put("client", id));
    each.host().ifPresent(host -> node.put("host", host));
    each.processId().ifPresent(id -> node.put("process", id));
    each.threadId().ifPresent(id -> node.put("thread", id));
    each.clientStartedAt().ifPresent(at -> node.put("clientStartedAt", at.toString()));
    each.javaVersion().ifPresent(version -> node.put("java", version));
    each.mortiseVersion().ifPresent(version -> node.put("mortise", version));
    each.askedAt().ifPresent(at -> node.put("askedAt", at.toString()));
    each.acquiredAt().ifPresent(at -> node.put("acquiredAt", at.toString()));
    node.put("holdCount", each.holdCount());
    if (each.isReleased()) {
      node.put("released", true);
    }
    if (!each.remaining().equals(LockOptions.MAX_LEASE)) {
      node.put("remainingMillis", each.remaining().toMillis());
    }
  }
}
