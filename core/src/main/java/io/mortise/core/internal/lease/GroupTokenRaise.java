package io.mortise.core.internal.lease;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Multimaps;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Map;

/**
 * Raises the fencing tokens of several holds, with one round trip for those of one client.
 *
 * <p><b>Threads.</b> Any thread may call it.
 */
public final class GroupTokenRaise {
  private GroupTokenRaise() {}

  /** Raises the tokens that are lower; returns whether all are held with at least that token. */
  public static boolean run(List<? extends OwnedLease> leases, long atLeast, GroupTimeout timeout) {
    ListMultimap<ScriptExecutor, RedisLease> groups =
        MultimapBuilder.linkedHashKeys().arrayListValues().build();
    for (OwnedLease lease : leases) {
      if (lease instanceof RedisHold hold
          && hold.inRedis() instanceof RedisLease own
          && own.fencingToken() < atLeast) {
        groups.put(own.commands(), own);
      }
    }
    boolean all = true;
    for (Map.Entry<ScriptExecutor, List<RedisLease>> group : Multimaps.asMap(groups).entrySet()) {
      all &= raiseTogether(group.getKey(), group.getValue(), atLeast, timeout);
    }
    return all && raiseEach(leases, atLeast);
  }

  /** Sends nothing for those whose hold in Redis has the token by now. */
  private static boolean raiseEach(List<? extends OwnedLease> leases, long atLeast) {
    boolean all = true;
    for (OwnedLease lease : leases) {
      all &= lease.raiseToken(atLeast);
    }
    return all;
  }

  private static boolean raiseTogether(
      ScriptExecutor commands, List<RedisLease> leases, long atLeast, GroupTimeout timeout) {
    List<ScriptCall> calls =
        leases.stream().map(lease -> lease.token().raiseCall(atLeast)).toList();
    boolean all = true;
    try {
      List<ScriptPipeline.Result> results =
          commands.pipeline().runAll(calls, timeout.nanosFor(commands));
      for (int i = 0; i < leases.size(); i++) {
        CommandException fault = results.get(i).fault();
        if (fault != null) {
          throw fault;
        }
        all &= leases.get(i).token().onRaised(results.get(i).reply(), atLeast);
      }
      return all;
    } catch (CommandException fault) {
      throw leases.get(0).token().raiseFailed(fault);
    }
  }
}
