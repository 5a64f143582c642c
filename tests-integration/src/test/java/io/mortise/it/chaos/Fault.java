package io.mortise.it.chaos;

import static io.mortise.it.chaos.Fault.Victim.CLIENT;
import static io.mortise.it.chaos.Fault.Victim.NOBODY;
import static io.mortise.it.chaos.Fault.Victim.SERVER;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.RedisServer;
import java.time.Duration;

/**
 * What befalls a client process, a server, or the way between them, and how it ends. The times are
 * in percent of the lease.
 */
enum Fault {
  /** No fault: only holders that stand still by themselves, as under all others too. */
  CALM(NOBODY, Pace.QUICK, 100, 100),

  // ---- nothing that was acknowledged is lost: no two holds may overlap

  /** SIGSTOP of a client process, past the lease. */
  CLIENT_PAUSED(CLIENT, Pace.SLOW, 110, 160) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.crowd().pause(victim);
    }

    @Override
    void end(Scene scene, int victim) {
      scene.crowd().resume(victim);
    }
  },
  /** {@code kill -9} of a client process; another one takes its place. */
  CLIENT_KILLED(CLIENT, Pace.QUICK, 10, 80) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.crowd().kill(victim);
    }

    @Override
    void end(Scene scene, int victim) {
      scene.crowd().replace(victim);
    }
  },
  /** SIGSTOP of servers, past the lease; then they answer what was asked meanwhile. */
  SERVER_PAUSED(SERVER, Pace.SLOW, 110, 160) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).pause();
    }

    @Override
    void end(Scene scene, int victim) {
      scene.server(victim).resume();
    }
  },
  /** {@code kill -9} of servers, which come back with all they had acknowledged. */
  SERVER_KILLED(SERVER, Pace.QUICK, 5, 130) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).kill();
    }

    @Override
    void end(Scene scene, int victim) {
      scene.server(victim).restart();
    }
  },
  /** Everything is late, in both directions. */
  DELAYED(SERVER, Pace.QUICK, 30, 70) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.proxy(victim).delay(Duration.ofMillis(5 + strike.variant() % 100));
    }
  },
  /** All connections break, and new ones too. */
  CUT(SERVER, Pace.QUICK, 10, 130) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.proxy(victim).cut();
    }
  },
  /** One direction only: requests vanish. */
  REQUESTS_LOST(SERVER, Pace.QUICK, 30, 130) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.proxy(victim).blackhole(Direction.TO_SERVER);
    }
  },
  /** One direction only: requests are obeyed, and nobody hears of it. */
  REPLIES_LOST(SERVER, Pace.QUICK, 30, 130) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.proxy(victim).blackhole(Direction.TO_CLIENT);
    }
  },
  /** Exactly one script is obeyed without its reply, by silence or by a broken connection. */
  ONE_REPLY_LOST(SERVER, Pace.QUICK, 10, 20) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      LossStyle style = strike.variant() % 2 == 0 ? LossStyle.SILENT : LossStyle.CLOSE;
      scene.proxy(victim).loseNextReply(style, FaultProxy.containing("EVAL"));
    }
  },
  /** SCRIPT FLUSH. */
  SCRIPTS_FLUSHED(SERVER, Pace.QUICK, 1, 10) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).command("SCRIPT", "FLUSH");
    }
  },
  /** CLIENT KILL TYPE pubsub: nobody is subscribed any more. */
  SUBSCRIBERS_KILLED(SERVER, Pace.QUICK, 5, 20) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).command("CLIENT", "KILL", "TYPE", "pubsub");
    }
  },

  // ---- data is lost: holds may overlap, but the loser is told

  /** The server comes back without its data. */
  RESTARTED_EMPTY(SERVER, Pace.SLOW, 20, 60) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).restartEmpty();
    }
  },
  /** FLUSHALL. */
  FLUSHED(SERVER, Pace.SLOW, 20, 60) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      scene.server(victim).command("FLUSHALL");
    }
  },
  /**
   * All keys with an end, but for the tokens', end now: what a lock sees of a server's clock that
   * is set forward by more than the lease.
   */
  EXPIRED_EARLY(SERVER, Pace.SLOW, 20, 60) {
    @Override
    void begin(Scene scene, Strike strike, int victim) {
      RedisServer server = scene.server(victim);
      server.command("EVAL", EXPIRE_ALL, "0");
    }
  },
  /** A replica that has missed the last writes becomes the master. */
  PROMOTED(SERVER, Pace.SLOW, 100, 100) {
    @Override
    void begin(Scene scene, Strike strike, int victim) throws InterruptedException {
      scene.arena().promoteLagging();
    }
  };

  private static final String EXPIRE_ALL =
      """
      for _, key in ipairs(redis.call('KEYS', '*')) do
        if redis.call('PTTL', key) > 0 and not string.find(key, 'redisson_lock_token', 1, true) then
          redis.call('PEXPIRE', key, 1)
        end
      end
      """;

  /** Whom a fault befalls. */
  enum Victim {
    NOBODY,
    CLIENT,
    SERVER
  }

  private final Victim victim;
  private final Pace pace;
  private final int leastPercent;
  private final int mostPercent;

  Fault(Victim victim, Pace pace, int leastPercent, int mostPercent) {
    this.victim = victim;
    this.pace = pace;
    this.leastPercent = leastPercent;
    this.mostPercent = mostPercent;
  }

  /** Makes it happen. */
  void begin(Scene scene, Strike strike, int victim) throws InterruptedException {}

  /** Mends what is not mended by itself; by default the way to the server. */
  void end(Scene scene, int victim) {
    if (isOfTheWay()) {
      scene.proxy(victim).restore();
    }
  }

  Victim victim() {
    return victim;
  }

  Pace pace() {
    return pace;
  }

  int leastPercent() {
    return leastPercent;
  }

  int mostPercent() {
    return mostPercent;
  }

  /** Whether it takes from a server what that has acknowledged. */
  boolean losesData() {
    return this == RESTARTED_EMPTY || this == FLUSHED || this == EXPIRED_EARLY || this == PROMOTED;
  }

  /** Whether it befalls the way to the servers: that needs a proxy. */
  private boolean isOfTheWay() {
    return switch (this) {
      case DELAYED, CUT, REQUESTS_LOST, REPLIES_LOST, ONE_REPLY_LOST -> true;
      default -> false;
    };
  }

  /** Whether it makes sense for such servers. */
  boolean befalls(Topology topology) {
    return switch (topology) {
      case STANDALONE -> this != PROMOTED;
      // A master that is down or still is replaced: that is PROMOTED. Its replica has no disk.
      case SENTINEL ->
          !isOfTheWay()
              && this != SERVER_PAUSED
              && this != SERVER_KILLED
              && this != RESTARTED_EMPTY;
    };
  }
}
