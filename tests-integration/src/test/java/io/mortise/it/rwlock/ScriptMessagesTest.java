package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.LockName;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The messages of each script that ends a hold or moves a queue: on the channel of the lock 1 after
 * a write hold and 0 otherwise, 0 on the channel of each waiter in a queue that may enter, and 0 on
 * the channel of the client of the first registered writer, {@code @w}; 1 on that of the readers
 * that wait when they may enter.
 */
@Timeout(60)
@Tag("redis-version")
class ScriptMessagesTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  // script and arguments | case | state before, as in ScriptState | messages
  private static final String MESSAGES =
      """
      release a | the only hold                | read a:900                            | 0
      release a | others outlast it            | read a:900 b:9000 ttl:9000            | ''
      release a | the others are over          | read a:900 b:over ttl:9000            | 0
      release a | one of theirs is over        | read a:900 B:over ttl:9000            | 0
      release a | one of theirs outlasts it    | read a:900 B:9000 ttl:9000            | ''
      release a | the lock will end sooner     | read a:9000 b:900 ttl:9000            | 0
      release a | sooner, with a queue         | read a:9000 b:900 ttl:9000 queue:v!,c | 0, v! 0
      release a | the last, with a queue       | read a:900 queue:v!,c                 | 0, v! 0
      release a | the last, a writer intends   | read a:900 intent:v!                  | 0
      release a | the last, writers wait      | read a:900 intent:v! writers:v!,u!    | 0, @v 0
      release a | the first was notified      | read a:900 intent:v! writers:u!,v!+   | 0, @u 0
      release a | all were notified           | read a:900 intent:v! writers:v!+      | 0
      release a | writers, others outlast it  | read a:900 b:9000 ttl:9000 writers:v! | ''
      release a | writers, theirs outlasts it | read a:900 B:9000 ttl:9000 writers:v! | @v 0
      release a | writers, both outlast it    | read a:900 b:8000 B:9000 ttl:9000 writers:v! | @v 0
      release a | writers, and a queue        | read a:900 queue:c! writers:v!        | 0, c! 0, @v 0
      release a | writers, sooner             | read a:9000 b:900 ttl:9000 writers:v! | 0, @v 0
      release a | not a holder                 | read b:900                            | ''
      release w! | the only hold               | write w!                              | 1
      release w! | readers wait                | write w! wait:b                       | 1, readers 1
      release w! | writers wait                | write w! writers:v!,u!                | 1, @v 0
      release w! | readers and writers wait    | write w! wait:b intent:v! writers:v!  | 1, readers 1, @v 0
      release w! | downgrade, a writer waits   | write w!:900 a:9000 ttl:9000 writers:v! | 1
      release w! | downgrade, it ends sooner   | write w!:9000 a:300 ttl:9000 writers:v! | 1, @v 0
      keep a 500   | theirs outlasts it        | read a:900 B:9000 ttl:8000 writers:v! | @v 0
      keep w! 500  | its reader lasts longer   | write w!:900 a:9000 ttl:9000 wait:b   | 1, readers 1
      keep w! 5000 | longer than its lease     | write w!:900 a:9000 ttl:9000 wait:b   | ''
      keep w! 500  | a writer waits            | write w! ttl:9000 writers:v!          | 1, @v 0
      release w! | downgrade                   | write w!:900 a:9000                   | 1
      release w! | readers lead the queue      | write w! queue:c,d,v!,e               | 1, c 0, d 0
      release w! | a writer leads the queue    | write w! queue:v!,c                   | 1, v! 0
      release w! | the head has timed out      | write w! queue:v!~,c                  | 1, c 0
      leave w!  | intends beside readers       | read b:900 intent:w!                  | 1
      leave w!  | intends, readers wait        | read b:900 intent:w! wait:c          | 1, readers 1
      leave w!  | the same behind a writer     | write v! intent:w! wait:c            | ''
      leave w!  | the same behind one of theirs | write V! intent:w! wait:c           | readers 1
      keep w! 500  | a reader waits            | write w! ttl:9000 wait:b             | 1, readers 1
      release a | a reader and a writer wait   | read a:900 intent:v! wait:b writers:v! | 0, @v 0
      leave w!  | intends beside a writer      | write v! intent:w!                    | ''
      leave w!  | intends, another waits       | read b:900 intent:w! writers:w!,v!    | 1, @v 0
      leave w!  | intends, is not the first    | read b:900 intent:w! writers:v!,w!    | 1, @v 0
      leave w!  | the same, the lock is free   | intent:w! writers:v!,w!+              | 1, @v 0
      leave w!  | registered behind theirs     | read B:900 intent:v! writers:w!,v!    | @v 0
      leave w!  | the first behind a writer    | write u! intent:v! writers:w!,v!      | @v 0
      leave w!  | the second behind a writer   | write u! intent:v! writers:v!,w!      | ''
      leave w!  | was notified                 | write u! intent:v! writers:v!,w!+     | @v 0
      leave w!  | at the rest of a minimum     | write u^! intent:v! writers:w!,v!     | @v 0
      leave w!  | leads the queue              | queue:w!,c,d                          | c 0, d 0
      leave w!  | leads it beside readers      | read b:900 queue:w!,c                 | c 0
      leave w!  | leads it, a writer holds     | write v! queue:w!,c                   | ''
      leave a   | the last that has its turn   | turn:a                                | 0
      leave a   | the same, a writer waits     | turn:a writers:v!                     | 0, @v 0
      leave a   | one of two with their turn   | turn:a turn:b                         | ''
      leave a   | holds                        | read a:900                            | 0
      force read  | all readers                | read a:900 b:9000                     | 0
      force read  | a writer waits             | read a:900 writers:v!                 | 0, @v 0
      notify    | the lock is free             | writers:v!,w!+                        | @v 0
      notify    | free, all were notified      | writers:w!+                           | ''
      notify    | free, the turn of readers    | turn:a writers:v!                     | ''
      notify    | held                         | write u! writers:v!                   | ''
      notify    | held by one of theirs        | read a:900 B:900 writers:v!           | @v 0
      force write | the writer                 | write w! queue:c                      | 1, c 0
      writer_heartbeat w! | a writer expired   | write v! b:900 intent:w! wait:a       | 1, readers 1
      writer_heartbeat w! | nothing ended      | read b:900 intent:w!                  | ''
      fair_heartbeat c | the head may enter    | queue:v!,c                            | v! 0
      fair_heartbeat c | it is the head itself | queue:c,v!                            | ''
      """;

  @ParameterizedTest(name = "{0}, {1}: {2} -> {3}")
  @CsvSource(delimiter = '|', textBlock = MESSAGES)
  void aScriptNotifiesThoseThatMayEnter(String call, String what, String before, String messages) {
    for (NotedReaders noted : NotedReaders.values()) {
      String name = Names.fresh();
      String channel = new LockName(name).derive("redisson_rwlock");
      ScriptState state = new ScriptState(redis.server(), name, noted);
      state.write(before);
      redis.published();

      var unused = state.call(call);

      assertEquals(
          Stream.of(messages.split(", ", -1))
              .filter(message -> !message.isEmpty())
              .map(message -> onChannel(channel, message))
              .toList(),
          redis.published(),
          () -> "the readers in the set: " + noted);
    }
  }

  private static String onChannel(String channel, String message) {
    List<String> words = List.of(message.split(" ", -1));
    String to = words.get(0);
    if (to.startsWith("@")) {
      String client = ScriptState.holder(to.substring(1)).substring(0, 36);
      return channel + ":" + client + " " + words.get(1);
    }
    if (to.equals("readers")) {
      return channel + ":" + message;
    }
    return words.size() == 1
        ? channel + " " + message
        : channel + ":" + ScriptState.holder(words.get(0)) + " " + words.get(1);
  }
}
