package io.mortise.it.chaos;

import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A deployment of its own for each member of a lock that is made of several: masters with replicas,
 * or clusters. The index of a server is that of the member.
 */
final class MemberDeployments implements ChaosServers {
  private final Family family;
  private final List<ChaosServers> members = new ArrayList<>();

  /** Starts a deployment for each server that the family needs. */
  MemberDeployments(Family family, Supplier<ChaosServers> deployment) {
    this.family = family;
    try {
      for (int i = 0; i < family.serverCount(); i++) {
        members.add(deployment.get());
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public List<String> uris() {
    return members.stream().flatMap(member -> member.uris().stream()).toList();
  }

  @Override
  public List<RedisServer> masters() {
    return members.stream().flatMap(member -> member.masters().stream()).toList();
  }

  @Override
  public RedisServer server(int index, String name) {
    return members.get(index).server(0, family.memberName(name, index));
  }

  @Override
  public void silenceDirectory() {
    members.forEach(ChaosServers::silenceDirectory);
  }

  @Override
  public void restoreDirectory() {
    members.forEach(ChaosServers::restoreDirectory);
  }

  @Override
  public void promoteLaggingReplica(int index, String name) throws InterruptedException {
    members.get(index).promoteLaggingReplica(0, family.memberName(name, index));
  }

  @Override
  public void promoteReplicaInSync(int index, String name) {
    members.get(index).promoteReplicaInSync(0, family.memberName(name, index));
  }

  @Override
  public void moveSlot(int index, String name) {
    members.get(index).moveSlot(0, family.memberName(name, index));
  }

  @Override
  public long promotions() {
    return members.stream().mapToLong(ChaosServers::promotions).sum();
  }

  @Override
  public void restore() {
    members.forEach(ChaosServers::restore);
  }

  @Override
  public void close() {
    members.forEach(ChaosServers::close);
  }
}
