package io.mortise.testkit.memory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A sorted set: members in the order of their scores, then of their bytes.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class SortedSet {
  record Member(String name, double score) {}

  private static final Comparator<Member> ORDER =
      Comparator.comparingDouble(Member::score).thenComparing(Member::name);

  private final Map<String, Double> scores = new HashMap<>();
  private final TreeSet<Member> members = new TreeSet<>(ORDER);

  /** Sets the score of a member; returns whether it is new. */
  boolean put(String name, double score) {
    boolean isNew = !remove(name);
    scores.put(name, score);
    members.add(new Member(name, score));
    return isNew;
  }

  boolean remove(String name) {
    Double score = scores.remove(name);
    if (score == null) {
      return false;
    }
    members.remove(new Member(name, score));
    return true;
  }

  @Nullable Double score(String name) {
    return scores.get(name);
  }

  /** Returns a copy of the members, in their order. */
  List<Member> members() {
    return List.copyOf(members);
  }

  int size() {
    return scores.size();
  }
}
