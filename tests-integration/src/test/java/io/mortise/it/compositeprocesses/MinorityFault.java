package io.mortise.it.compositeprocesses;

import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;

/** What befalls a node, and how it is mended. */
enum MinorityFault {
  /** It stands still, and then answers what was asked meanwhile. */
  PAUSED {
    @Override
    void strike(Nodes nodes, int node) {
      nodes.server(node).pause();
    }

    @Override
    void mend(Nodes nodes, int node) {
      nodes.server(node).resume();
    }
  },
  /** All connections to it break, and no new one can be made. */
  CUT_OFF {
    @Override
    void strike(Nodes nodes, int node) {
      nodes.proxy(node).cut();
    }

    @Override
    void mend(Nodes nodes, int node) {
      nodes.proxy(node).restore();
    }
  },
  /** It does what it is asked, but nobody hears its answers. */
  UNHEARD {
    @Override
    void strike(Nodes nodes, int node) {
      nodes.proxy(node).blackhole(Direction.TO_CLIENT);
    }

    @Override
    void mend(Nodes nodes, int node) {
      nodes.proxy(node).restore();
    }
  },
  /** It dies, and comes back without data when all that it had granted is over. */
  DEAD_FOR_A_LEASE {
    @Override
    void strike(Nodes nodes, int node) {
      nodes.server(node).kill();
    }

    @Override
    void mend(Nodes nodes, int node) {
      nodes.server(node).restart();
    }

    @Override
    Duration atLeast(Duration lease) {
      return lease;
    }
  };

  abstract void strike(Nodes nodes, int node);

  abstract void mend(Nodes nodes, int node);

  /** How long it has to last. */
  Duration atLeast(Duration lease) {
    return Duration.ZERO;
  }
}
