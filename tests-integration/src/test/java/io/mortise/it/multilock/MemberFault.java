package io.mortise.it.multilock;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;

/** What becomes of the server of one member. {@link MemberServers#restore} ends it. */
enum MemberFault {
  /** Its process is gone. It comes back without its data. */
  KILLED {
    @Override
    void begin(MemberServers sites, int place) {
      sites.server(place).kill();
    }
  },
  /** Closes every connection as soon as it is made. */
  REFUSING {
    @Override
    void begin(MemberServers sites, int place) {
      sites.proxy(place).cut();
    }
  },
  /** SIGSTOP: connections are accepted, nothing is answered. */
  PAUSED {
    @Override
    void begin(MemberServers sites, int place) {
      sites.server(place).pause();
    }
  },
  /** Nothing comes through, and nobody is told. */
  CUT_OFF {
    @Override
    void begin(MemberServers sites, int place) {
      sites.proxy(place).holdNewConnections();
      sites.proxy(place).blackhole(Direction.TO_SERVER);
      sites.proxy(place).blackhole(Direction.TO_CLIENT);
    }
  },
  /** Each script runs, and its answer does not come. */
  SILENCED {
    @Override
    void begin(MemberServers sites, int place) {
      loseAnswers(sites, place, LossStyle.SILENT);
    }
  },
  /** Each script runs, and instead of its answer the connection is closed. */
  BREAKING {
    @Override
    void begin(MemberServers sites, int place) {
      loseAnswers(sites, place, LossStyle.CLOSE);
    }
  };

  abstract void begin(MemberServers sites, int place);

  private static void loseAnswers(MemberServers sites, int place, LossStyle style) {
    sites.proxy(place).loseReplies(Integer.MAX_VALUE, style, FaultProxy.containing("EVAL"));
  }
}
