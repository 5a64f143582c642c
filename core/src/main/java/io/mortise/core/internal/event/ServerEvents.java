package io.mortise.core.internal.event;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reports the servers of one client that become unreachable, and reachable again.
 *
 * <p><b>Threads.</b> Any thread may report a change; the monitor of the server's record orders its
 * changes.
 */
public final class ServerEvents implements Topology.ReachabilityObserver {
  private final EventContext context;
  private final EventQueue queue;

  /** The servers that are unreachable, and since when. */
  private final Map<String, Long> sinceNanos = new ConcurrentHashMap<>();

  public ServerEvents(EventContext context, EventQueue queue) {
    this.context = context;
    this.queue = queue;
  }

  @Override
  public void changed(String server, @Nullable CommandException fault) {
    try {
      LockEvent.Builder event =
          context
              .event(fault == null ? LockEvent.Type.REACHABLE : LockEvent.Type.UNREACHABLE)
              .server(server);
      if (fault != null) {
        sinceNanos.put(server, context.nanos());
        event.cause(context.toLockException().apply(fault));
      } else {
        Long since = sinceNanos.remove(server);
        if (since != null) {
          event.duration(Duration.ofNanos(context.nanos() - since));
        }
      }
      queue.put(event.build());
    } catch (Throwable noMemory) { // or no stack
      queue.recordDrop();
    }
  }
}
