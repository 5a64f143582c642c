package io.mortise.testkit;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** The cluster as one node sees it: its answer to CLUSTER NODES. */
record ClusterView(List<Member> members) {
  static final int SLOTS = 16_384;

  /**
   * One line of it.
   *
   * @param self whether this is the node that was asked
   * @param masterId whose replica it is; {@code -} for a master
   */
  record Member(String id, int port, boolean self, String masterId, long epoch, BitSet slots) {
    // id ip:port@busPort flags master pingSent pongReceived epoch link slot|from-to|[moving]...
    static Member of(String line) {
      List<String> words = Arrays.asList(line.split(" ", -1));
      String address = words.get(1).split("[@,]", -1)[0];
      return new Member(
          words.get(0),
          Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)),
          Arrays.asList(words.get(2).split(",", -1)).contains("myself"),
          words.get(3),
          Long.parseLong(words.get(6)),
          slots(words.subList(8, words.size())));
    }

    private static BitSet slots(List<String> words) {
      BitSet slots = new BitSet(SLOTS);
      for (String word : words) {
        if (!word.startsWith("[")) {
          String[] ends = word.split("-", -1);
          slots.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
      }
      return slots;
    }

    boolean isMaster() {
      return masterId.equals("-");
    }
  }

  static ClusterView of(RedisServer node) {
    String answer = String.valueOf(Objects.requireNonNull(node.command("CLUSTER", "NODES")));
    return new ClusterView(answer.lines().map(Member::of).toList());
  }

  /** The owner of the slot; of several that claim it, the one with the latest epoch. */
  static Optional<Member> owner(int slot, List<ClusterView> views) {
    return views.stream()
        .flatMap(view -> view.owner(slot).stream())
        .max(Comparator.comparingLong(Member::epoch));
  }

  Optional<Member> owner(int slot) {
    return members.stream().filter(member -> member.slots().get(slot)).findFirst();
  }

  List<Member> replicasOf(String masterId) {
    return members.stream().filter(member -> member.masterId().equals(masterId)).toList();
  }

  /** Returns the facts on which all nodes have to agree: master and slots of each node. */
  Map<String, List<Object>> shape() {
    Map<String, List<Object>> shape = new TreeMap<>();
    members.forEach(
        member ->
            shape.put(member.id(), List.of(member.masterId(), member.slots(), member.port())));
    return shape;
  }
}
