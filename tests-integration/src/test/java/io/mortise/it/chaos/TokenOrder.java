package io.mortise.it.chaos;

import io.mortise.it.chaos.HoldObserver.Grant;
import io.mortise.testkit.HoldLog.Mode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Finds tokens that do not increase in the order in which the servers granted them.
 *
 * <p>That order is known as far as the clients bound it: one grant is before another when its
 * answer was there before the request of the other was sent. Of two such grants of a resource the
 * second has the larger token if one of them is exclusive and the second is; a reader has at least
 * the token of the last writer before it. Two grants whose bounds overlap say nothing about the
 * order: then a client was suspended, or waited for its processor, between the grant and its
 * record, and its token is rightly the older one.
 */
final class TokenOrder {

  /** Two grants, of which the second has too small a token. */
  record Disorder(Grant first, Grant second) {}

  private TokenOrder() {}

  static List<Disorder> check(List<Grant> grants) {
    List<Disorder> disorders = new ArrayList<>();
    Map<String, List<Grant>> byResource =
        grants.stream().collect(Collectors.groupingBy(Grant::resource));
    byResource.values().forEach(each -> checkOne(each, disorders));
    return disorders;
  }

  private static void checkOne(List<Grant> grants, List<Disorder> disorders) {
    List<Grant> answered =
        grants.stream().sorted(Comparator.comparingLong(Grant::notAfter)).toList();
    List<Grant> asked = grants.stream().sorted(Comparator.comparingLong(Grant::notBefore)).toList();
    Grant newest = null; // of those before, the one with the largest token
    Grant newestWriter = null; // two readers have no order: a renewed one may be the older
    int next = 0;
    for (Grant grant : asked) {
      while (next < answered.size() && answered.get(next).notAfter() < grant.notBefore()) {
        Grant before = answered.get(next++);
        newest = newest == null || isNewer(before, newest) ? before : newest;
        if (before.mode() == Mode.EXCLUSIVE) {
          newestWriter =
              newestWriter == null || isNewer(before, newestWriter) ? before : newestWriter;
        }
      }
      Grant last = grant.mode() == Mode.SHARED ? newestWriter : newest;
      if (last != null && !follows(last, grant)) {
        disorders.add(new Disorder(last, grant));
      }
    }
  }

  /** Of two grants with one token the writer is newer: readers after it have its token too. */
  private static boolean isNewer(Grant grant, Grant than) {
    return grant.token() > than.token()
        || (grant.token() == than.token() && grant.mode() == Mode.EXCLUSIVE);
  }

  private static boolean follows(Grant first, Grant second) {
    return second.mode() == Mode.SHARED
        ? second.token() >= first.token()
        : second.token() > first.token();
  }
}
