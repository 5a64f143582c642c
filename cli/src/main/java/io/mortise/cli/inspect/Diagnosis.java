package io.mortise.cli.inspect;

import io.mortise.cli.options.RedisClients;
import io.mortise.core.LockClient;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Severity;
import io.mortise.core.spi.RedisDeployment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The findings about each Redis, and about all of them together.
 *
 * @param deployments one for each URI
 * @param together what is wrong with the servers of a RedLock as a whole
 */
public record Diagnosis(List<Deployment> deployments, List<Problem> together) {
  /** How far the clocks of the servers of a RedLock may differ without a note. */
  private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofSeconds(1);

  /** Copies the lists. */
  public Diagnosis {
    deployments = List.copyOf(deployments);
    together = List.copyOf(together);
  }

  /** One Redis, by its URI without user and password. */
  public record Deployment(String uri, ServerHealth health) {}

  /** The fault, and its remedy. */
  public record Problem(Severity severity, String problem, String remedy) {}

  /** Asks one Redis after the other. */
  public static Diagnosis of(RedisClients clients) {
    List<Deployment> deployments =
        IntStream.range(0, clients.all().size())
            .mapToObj(i -> new Deployment(clients.servers().get(i), clients.all().get(i).ping()))
            .toList();
    return new Diagnosis(
        deployments, clients.isQuorum() ? together(clients.all(), deployments) : List.of());
  }

  /** Returns the worst of all severities. */
  public Severity severity() {
    List<Severity> all = new ArrayList<>(List.of(Severity.OK));
    deployments.forEach(each -> all.add(each.health().severity()));
    together.forEach(each -> all.add(each.severity()));
    return Collections.max(all);
  }

  private static List<Problem> together(List<LockClient> clients, List<Deployment> deployments) {
    List<Problem> problems = new ArrayList<>();
    long answering = deployments.stream().filter(each -> each.health().isReachable()).count();
    int majority = deployments.size() / 2 + 1;
    if (answering < majority) {
      problems.add(
          new Problem(
              Severity.ERROR,
              "only %d of %d servers answer, and a majority is %d"
                  .formatted(answering, deployments.size(), majority),
              "bring the others back: without a majority no RedLock is granted"));
    }
    if (deployments.size() % 2 == 0) {
      problems.add(
          new Problem(
              Severity.INFO,
              "of %d servers %d may fail, as of one server less"
                  .formatted(deployments.size(), deployments.size() - majority),
              "use an odd number of servers"));
    }
    sameServer(clients, deployments).ifPresent(problems::add);
    clocks(deployments).ifPresent(problems::add);
    return problems;
  }

  /** Two URIs of one server would count twice in a majority. */
  private static Optional<Problem> sameServer(
      List<LockClient> clients, List<Deployment> deployments) {
    for (int i = 0; i < clients.size(); i++) {
      for (int j = i + 1; j < clients.size(); j++) {
        RedisDeployment one = (RedisDeployment) clients.get(i);
        RedisDeployment other = (RedisDeployment) clients.get(j);
        // A server that has just been silent would keep each comparison waiting.
        boolean asked = answers(deployments.get(i)) && answers(deployments.get(j));
        if (asked ? one.isSame(other) : one.address().equals(other.address())) {
          return Optional.of(
              new Problem(
                  Severity.ERROR,
                  "%s and %s are one server"
                      .formatted(deployments.get(i).uri(), deployments.get(j).uri()),
                  "name each server once: one that counts twice in a majority is no majority"));
        }
      }
    }
    return Optional.empty();
  }

  private static boolean answers(Deployment deployment) {
    return deployment.health().servers().stream().anyMatch(ServerHealth.Server::isReachable);
  }

  private static Optional<Problem> clocks(List<Deployment> deployments) {
    List<Duration> offsets =
        deployments.stream()
            .flatMap(each -> each.health().servers().stream())
            .flatMap(server -> server.clockOffset().stream())
            .sorted()
            .toList();
    if (offsets.isEmpty()) {
      return Optional.empty();
    }
    Duration spread = offsets.get(offsets.size() - 1).minus(offsets.get(0));
    return spread.compareTo(MAX_CLOCK_DIFFERENCE) <= 0
        ? Optional.empty()
        : Optional.of(
            new Problem(
                Severity.INFO,
                "the clocks of the servers differ by %d ms".formatted(spread.toMillis()),
                "synchronise them: leases do not depend on it, times that are compared do"));
  }
}
