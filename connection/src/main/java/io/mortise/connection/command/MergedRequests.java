package io.mortise.connection.command;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The requests for many calls. The items of one batch script go together: in one request for each
 * slot, or several where they are too many to be written at once.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 *
 * @param parts for each request the positions of its calls
 */
record MergedRequests(List<List<Integer>> parts, List<ScriptRequest> requests) {
  /** What goes together. */
  private record SharedRequest(Script script, int slot) {}

  static MergedRequests of(List<ScriptCall> calls, Topology topology) {
    List<ScriptRequest> alone = calls.stream().map(ScriptRequest::of).toList();
    List<List<Integer>> parts =
        grouped(calls.size(), i -> sharedOrAlone(alone.get(i), i, topology)).stream()
            .map(together -> WriteBound.parts(together, i -> alone.get(i).bytes()))
            .flatMap(List::stream)
            .toList();
    List<ScriptRequest> requests =
        parts.stream()
            .map(part -> ScriptRequest.merged(part.stream().map(calls::get).toList()))
            .toList();
    return new MergedRequests(parts, requests);
  }

  private static Object sharedOrAlone(ScriptRequest request, Integer position, Topology topology) {
    return request.script().batch()
        ? new SharedRequest(request.script(), request.slot(topology))
        : position;
  }

  /** Returns the positions from 0 on that have the same key together, in their order. */
  static List<List<Integer>> grouped(int count, Function<Integer, Object> key) {
    List<Integer> positions = IntStream.range(0, count).boxed().toList();
    return List.copyOf(
        positions.stream().collect(groupingBy(key, LinkedHashMap::new, toList())).values());
  }

  /**
   * Sets the result of each call.
   *
   * @param replies the results of the requests
   */
  void distribute(List<ScriptResult> replies, List<ScriptResult> results) {
    for (int i = 0; i < parts.size(); i++) {
      distribute(replies.get(i), parts.get(i), requests.get(i), results);
    }
  }

  private static void distribute(
      ScriptResult reply,
      List<Integer> positions,
      ScriptRequest request,
      List<ScriptResult> results) {
    if (reply.fault() != null || !request.script().batch()) {
      positions.forEach(position -> results.set(position, reply));
    } else if (reply.reply().value() instanceof List<?> each && each.size() == positions.size()) {
      for (int i = 0; i < positions.size(); i++) {
        results.set(positions.get(i), ScriptResult.of(reply.reply().with(each.get(i))));
      }
    } else {
      CommandException mismatch =
          new CommandException(
              Kind.SCRIPT,
              true,
              "script '%s' has no answer for each of %d items"
                  .formatted(request.script(), positions.size()),
              null);
      positions.forEach(position -> results.set(position, ScriptResult.of(mismatch)));
    }
  }
}
