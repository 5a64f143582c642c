package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.SharedRedis;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every script in every state in which it may find the lock: what it answers, and the state
 * afterwards. The notation is that of {@link ScriptState}; in answers {@code T} is a token and
 * {@code ~900} a time of not much less than 900 units.
 */
@Timeout(60)
@Tag("redis-version")
class ScriptStatesTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  // script and arguments | case | state before | answer | state after
  private static final String STATES =
      """
      # read
      read a                | free                                  | free                                      | 1 T 0    | read a:9000 ttl:9000
      read a                | repeated                              | read a:50 ttl:50                          | 1 T 0    | read a:9000 ttl:9000
      read a                | repeated late                         | read a:20000 ttl:20000                    | 1 T 0    | read a:20000 ttl:20000
      read a                | beside others                         | read b:20000 ttl:20000                    | 1 T 0    | read a:9000 b ttl:20000
      read a                | beside a reader of theirs             | read B*2:20000,900 ttl:20000              | 1 T 0    | read a B ttl:20000
      read a                | a writer holds                        | write w! ttl:9000                         | 0 ~9000  | write w!
      read a waits          | a writer holds, waits                 | write w! ttl:9000                         | 2 ~9000  | write w! wait:a
      read a waits          | a writer of theirs holds              | write W! ttl:9000                         | 3 ~9000  | write W! wait:a
      read a waits below w! | beside its own writer                 | write w! ttl:5000                         | 1 7 0    | write w!:5000 a:9000 ttl:9000
      read a waits below w! | beside it again                       | write w!:4000 b:9000 ttl:9000             | 1 7 0    | write w!:4000 a b ttl:9000
      read a waits below w! | beside the writer of another          | write v! ttl:5000                         | 2 ~5000  | write v! wait:a
      read a                | repeated, without an end              | read a:ever ttl:ever                      | 1 T 0    | read a:ever ttl:ever
      read a waits below w! | beside its own writer without an end  | write w! ttl:ever                         | 1 7 0    | write w!:ever a:9000 ttl:ever
      read a                | a writer without an end               | write w! ttl:ever                         | 0 -1     | write w!
      read a                | a writer intends                      | intent:w!                                 | 0 ~5000  | free intent:w!
      read a waits          | a writer intends, waits               | intent:w!                                 | 2 ~5000  | free wait:a intent:w!
      read a waits          | a writer intends, beside others       | read b:9000 intent:w!                     | 2 ~5000  | read b wait:a
      read a waits          | its turn                              | read b:9000 intent:w! turn:a              | 1 T 0    | read a b turn: intent:w!
      read a waits          | turn of another                       | intent:w! turn:b                          | 2 ~5000  | free turn:b wait:a
      read a                | its turn, but a writer holds          | write W! turn:a                           | 0 ~30000 | write W! turn:a
      read a                | repeated under intent                 | read a:900 intent:w!                      | 1 T 0    | read a:9000
      read a waits          | an expired writer, whose readers stay | write w! b:9000 ttl:9000 intent:v! wait:a | 1 T 0    | read a b turn: wait:
      read a                | a plain lock                          | plain                                     | LOCKTYPE | p
      read a waits          | an intent without an end              | intent:w! persist:intent                  | 2 ~5000  | free wait:a intent:w! intentleft:5000
      read a                | an intent without an end, no wait     | intent:w! persist:intent                  | 0 -1     | free intent:w! intentleft:ever
      # write
      write w!       | free                                     | free                             | 1 T 0    | write w! ttl:9000
      write w!       | repeated                                 | write w! ttl:50                  | 1 T 0    | write w! ttl:9000
      write w!       | repeated, without an end                 | write w! ttl:ever                | 1 T 0    | write w! ttl:ever
      write w!       | readers hold                             | read a:900 b:9000                | 0 ~9000  | read a b intent:
      write w! waits | waits                                    | read a:900 b:9000                | 2 ~9000  | read a b intent:w! writers:w! registered:5000
      write w! waits | readers of theirs                        | read A*3:over,over,9000          | 3 ~9000  | read A intent:w!
      write w!       | an expired reader                        | read a:over                      | 1 T 0    | write w! ttl:9000
      write w!       | an expired reader of theirs              | read A*3:over,over,over          | 1 T 0    | write w! ttl:9000
      write w! waits | one reader of two has expired            | read a:over b:9000               | 2 ~9000  | read b ttl:9000
      write w!       | two expired readers                      | read a:over b:over               | 1 T 0    | write w! ttl:9000
      write w!       | two expired readers of theirs            | read A:over B:over               | 1 T 0    | write w! ttl:9000
      write w!       | expired readers of both                  | read a:over b:over A:over        | 1 T 0    | write w! ttl:9000
      write w! waits | one of three has expired                 | read a:900 b:over c:500 ttl:9000 | 2 ~900   | read a c ttl:900 intent:w!
      write w! waits | one of theirs lasts longer               | read a:900 B:9000 ttl:9000       | 3 ~9000  | read a B ttl:9000 intent:w!
      write w! waits | one of theirs has expired                | read a:900 B:over ttl:9000       | 2 ~900   | read a ttl:900 intent:w!
      write w!       | all but one of theirs have expired       | read a:over b:over B:900         | 0 ~900   | read B
      write w! waits | a hash that ends before its readers      | read a:20000 ttl:5000            | 2 ~20000 | read a ttl:20000
      write w! waits | a writer                                 | write v! ttl:9000                | 2 ~9000  | write v! intent:w!
      write w! waits | one of theirs                            | write W!                         | 3 ~30000 | write W! intent:w!
      write w! waits | another intends                          | write v! intent:u!               | 2 ~30000 | write v! intent:u! writers:w!
      write w! waits | its own intent                           | intent:w!                        | 1 T 0    | write w! intent:
      write w! waits | the intent of another                    | intent:u!                        | 1 T 0    | write w! intent:u!
      write w! waits | turn of the readers                      | turn:a                           | 2 ~5000  | free intent:w! turn:a
      write w!       | turn of the readers, no wait             | turn:a                           | 0 ~5000  | free intent: turn:a
      write w! waits | the second of two                        | read a:900 intent:v! writers:v!  | 2 ~900   | read a intent:v! writers:v!,w!
      write w! waits | it comes in vain                         | read a:900 writers:v!,w!+        | 2 ~900   | read a intent:w! writers:v!,w!
      write w! waits | it comes in vain, was the first          | read a:900 writers:w!+,v!        | 2 ~900   | read a writers:w!,v!
      write w!       | does not wait                            | write v! writers:u!              | 0 ~30000 | write v! intent: writers:u!
      write w! waits | acquires, the next intends               | intent:w! writers:w!+,v!         | 1 T 0    | write w! intent:v! writers:v!
      write w! waits | acquires, another intends                | intent:v! writers:v!,w!          | 1 T 0    | write w! intent:v! writers:v!
      write w! waits | acquires, the others were notified       | intent:w! writers:v!+,w!+        | 1 T 0    | write w! intent: writers:v!+
      write w!       | barges                                   | intent:v! writers:v!+            | 1 T 0    | write w! intent:v! writers:v!+
      write w! waits | a writer and its readers                 | write v!:900 b:9000 ttl:9000     | 2 ~9000  | write v! b intent:w!
      write w! waits | an expired writer, whose readers stay    | write v! b:9000 ttl:20000 wait:c | 2 ~9000  | read b ttl:9000 intent:w! turn:c wait:
      write w! waits | an expired writer and its expired reader | write v! b:over ttl:9000         | 1 T 0    | write w! ttl:9000
      write w! waits | their writer and its reader              | write V! B:9000 ttl:20000        | 3 ~20000 | write V! B intent:w!
      write w!       | a plain lock                             | plain                            | LOCKTYPE | p
      write w! waits | an intent without an end                 | write v! intent:u! persist:intent | 2 ~30000 | write v! intent:u! intentleft:5000
      write w! waits | a turn without an end                    | turn:a persist:turn              | 2 ~50    | free intent:w! turn:a turnleft:50
      write w!       | a turn without an end, no wait           | turn:a persist:turn              | 0 ~50    | free intent: turn:a turnleft:50
      # release
      release a  | the last reader                   | read a:900                            | 1 0 | free
      release a  | another reader lasts longer       | read a:900 b:9000 ttl:9000            | 1 0 | read b ttl:9000
      release a  | the longest                       | read a:9000 b:900 ttl:9000            | 1 0 | read b ttl:900
      release a  | the longest of three              | read a:9000 A*3:over,900,500 ttl:9000 | 1 0 | read A ttl:900
      release a  | the others have expired           | read a:9000 b:over ttl:9000           | 1 0 | free
      release a  | beside its writer without an end  | write w!:ever a:9000 ttl:ever         | 1 0 | write w! ttl:ever
      release a  | a reentrant reader of theirs      | read A*2:900,9000 a:20000 ttl:20000   | 1 0 | read A
      release a  | beside its writer                 | write w!:5000 a:9000 ttl:9000         | 1 0 | write w! ttl:5000
      release a  | one of two beside the writer      | write w!:5000 a:9000 b:7000 ttl:9000  | 1 0 | write w!:5000 b:7000 ttl:7000
      release a  | beside an expired writer          | write w! a:9000 ttl:9000 wait:c       | 1 0 | free turn:c
      release a  | not a holder                      | read b:900                            | 0 0 | read b
      release a  | nothing                           | free                                  | 0 0 | free
      release w! | the writer                        | write w!                              | 1 0 | free
      release w! | not the writer                    | write v!                              | 0 0 | write v!
      release w! | starts the turn of the readers    | write w! wait:a wait:b~               | 1 0 | free turn:a wait:
      release w! | the waiting reader has timed out  | write w! wait:b~                      | 1 0 | free turn: wait:
      release w! | downgrade                         | write w!:900 a:9000                   | 1 0 | read a:9000 ttl:9000
      release a  | a writer waits                    | read a:900 intent:v! writers:v!       | 1 0 1 | free intent:v! writers:v!+
      release w! | a writer waits                    | write w! intent:v! writers:v!,u!      | 1 0 1 | free intent:v! writers:u!,v!+
      release w! | all were notified                 | write w! writers:v!+                  | 1 0   | free writers:v!+
      release w! | downgrade starts a turn           | write w!:900 a:9000 wait:b intent:v!  | 1 0 | read a turn:b intent:v!
      release w! | downgrade, the reader has expired | write w!:900 a:over                   | 1 0 | free
      release a  | two of theirs stay                | read a:9000 B:900 C:500 ttl:9000      | 1 0 | read B C ttl:900
      release a  | the hash lasts longer than all    | read a:900 b:over B:over ttl:9000     | 1 0 | free
      release a  | the hash lasts longer than most   | read a:900 b:500 B:over ttl:9000      | 1 0 | read b ttl:500
      release a  | one of theirs lasts longer        | read a:900 b:900 B:9000 ttl:9000      | 1 0 | read b B ttl:9000
      release a  | the others have expired           | read a:9000 b:over c:over ttl:9000    | 1 0 | free
      # keep
      keep a 500  | the last reader                 | read a:900 ttl:900                    | 1 0 | read a^:500 ttl:500
      keep a 5000 | longer than its lease           | read a:900 ttl:900                    | 1 0 | read a^:5000 ttl:5000
      keep a 500  | another reader lasts longer     | read a:900 b:9000 ttl:9000            | 1 0 | read a^:500 b:9000 ttl:9000
      keep a 2000 | the longest                     | read a:9000 b:1000 ttl:9000           | 1 0 | read a^:2000 b:1000 ttl:2000
      keep a 500  | one of theirs lasts longer      | read a:9000 B:3000 ttl:9000           | 1 0 | read a^:500 B ttl:3000
      keep a 500  | below its writer                | write w!:5000 a:9000 ttl:9000         | 1 0 | write w!:5000 a^:500 ttl:5000
      keep a 500  | another was kept                | read a:9000 b^:3000 ttl:9000          | 1 0 | read a^:500 b^:3000 ttl:3000
      keep a 500  | repeated                        | read a^:900 ttl:900                   | 0 0 | read a^:900 ttl:900
      keep a 500  | not a holder                    | read b:900                            | 0 0 | read b
      keep w! 500 | the writer                      | write w! ttl:9000 wait:a intent:v!    | 1 0 | write w^! ttl:500 turn:a intent:v!
      keep w! 500 | repeated                        | write w^! ttl:900                     | 0 0 | write w^! ttl:900
      keep w! 500 | not the writer                  | write v! ttl:900                      | 0 0 | write v! ttl:900
      keep w! 500 | its reader stays                | write w!:900 a:9000 ttl:9000          | 1 0 | write w^!:500 a:9000 ttl:9000
      keep w! 500 | its reader stays, a reader waits | write w!:900 a:9000 ttl:9000 wait:b | 1 0 | write w^!:500 a:9000 ttl:9000 turn:b turnleft:550
      keep w! 500 | its reader ends first           | write w!:9000 a:100 ttl:9000 queue:v! | 1 0 | write w^!:500 a:100 ttl:500 queue:v!
      # what was kept keeps others out
      read b      | of a reader: readers may enter  | read a^:900 ttl:900                   | 1 T 0    | read a^:900 b:9000 ttl:9000
      write v!    | of a reader: writers wait       | read a^:900 ttl:900                   | 0 ~900   | read a^:900 ttl:900
      write v!    | of a reader, over               | read a^:over ttl:900                  | 1 T 0    | write v!
      read a      | of a writer                     | write w^! ttl:900                     | 0 ~900   | write w^! ttl:900
      write w!    | of a writer: a late attempt     | write w^! ttl:900                     | 0 ~900   | write w^! ttl:900
      write v!    | of a writer above a reader      | write w^!:500 a:9000 ttl:9000         | 0 ~9000  | write w^!:500 a:9000 ttl:9000
      read b      | of a writer above a reader, over| write w^!:over a:9000 ttl:9000        | 1 T 0    | read a:9000 b:9000 ttl:9000
      fair_write v! waits | of a writer             | write w^! ttl:900                     | 2 ~900   | write w^! ttl:900 queue:v!
      renew a 9000 | a late renewal                 | read a^:900 ttl:900                   | 0        | read a^:900 ttl:900
      leave w!    | a late release                  | write w^! ttl:900                     | 0 0      | write w^! ttl:900
      force write | by force                        | write w^! ttl:900                     | 1        | free
      force read  | by force                        | read a^:900 ttl:900                   | 1        | free
      # leave
      leave a  | nothing         | read b:900             | 0 0 | read b
      leave a  | waits           | write v! wait:a wait:b | 1 0 | write v! wait:b
      leave a  | has its turn    | turn:a turn:b          | 1 0 | free turn:b
      leave a  | holds           | read a:900             | 1 0 | free
      leave a  | holds and waits | read a:900 wait:a      | 1 0 | free wait:
      leave a  | in the queue    | read b:900 queue:w!,a  | 1 0 | read b queue:w!
      leave w! | nothing         | intent:v! queue:v!     | 0 0 | free intent:v! queue:v!
      leave w! | intends         | read b:900 intent:w!   | 1 0 | read b intent:
      leave w! | holds           | write w!               | 1 0 | free
      leave w! | at the head     | read b:900 queue:w!,a  | 1 0 | read b queue:a
      leave w! | another waits   | read b:900 intent:w! writers:w!,v! | 1 0 | read b intent: writers:v!+
      leave w! | does not intend | read b:900 intent:v! writers:v!,w! | 1 0 | read b intent:v! writers:v!
      leave w! | was the first   | read b:900 intent:v! writers:w!,v! | 1 0 | read b intent:v! writers:v!+
      leave w! | the lock is free | intent:w! writers:w!+,v!          | 1 0 | free intent: writers:v!+
      # notify
      notify | nobody waits                 | free                      | 0 | free
      notify | free                         | writers:v!,w!             | 1 | free writers:w!,v!+
      notify | all were notified            | writers:v!+               | 0 | free writers:v!+
      notify | the turn of the readers      | turn:a writers:v!         | 1 | free writers:v! turn:a
      notify | their turn, nobody to notify | turn:a writers:v!+        | 0 | free writers:v!+ turn:a
      notify | a turn without an end        | turn:a writers:v! persist:turn | 1 | free writers:v! turn:a turnleft:50
      notify | held                         | read a:900 writers:v!     | 0 | read a writers:v!
      notify | held by one of theirs        | write W! writers:v!       | 0 | write W! writers:v!+
      # renew
      renew a 9000  | a reader                  | read a:900 ttl:900             | 1 | read a:9000 ttl:9000
      renew a 9000  | only itself               | read a:900 b:5000              | 1 | read a:9000 b:5000 ttl:30000
      renew a 9000  | never shorter             | read a:20000                   | 1 | read a:20000 ttl:30000
      renew a 1     | only verified             | read a:5000                    | 1 | read a:5000
      renew a 9000  | shortened by a peer       | read a:50 b:50 ttl:50          | 1 | read a:9000 ttl:9000 b
      renew a 9000  | the hash alone            | read a:20000 b ttl:50          | 1 | read a:20000 b ttl:9000
      renew a 1     | no end, verified          | read a:ever ttl:ever           | 1 | read a:ever ttl:ever
      renew a 9000  | no end                    | read a:ever ttl:ever           | 1 | read a:ever ttl:ever
      renew w! 9000 | no end, a writer          | write w! ttl:ever              | 1 | write w! ttl:ever
      renew a 9000  | released                  | read b:900                     | 0 | read b
      renew a 9000  | expired                   | read a:over b:900              | 0 | read a:over b
      renew a 9000  | a plain lock              | plain                          | 0 | p
      renew w! 9000 | a writer                  | write w! ttl:900               | 1 | write w! ttl:9000
      renew w! 9000 | beside its reader         | write w!:900 a:20000 ttl:20000 | 1 | write w!:9000 a:20000 ttl:20000
      renew w! 9000 | expired, its reader stays | write w! a:9000                | 0 | write w! a
      # force
      force read  | no reader             | free                     | 0        | free
      force read  | expired readers       | read a:over              | 0        | read a:over
      force read  | all readers           | read a:900 A*2:over,9000 | 1        | free
      force read  | a writer              | write w!                 | 0        | write w!
      force read  | beside a writer       | write w!:900 a:9000      | 1        | write w! ttl:900
      force read  | a plain lock          | plain                    | LOCKTYPE | p
      force write | no writer             | read a:900               | 0        | read a
      force write | the writer            | write w! wait:b          | 1        | free turn:b
      force write | one of theirs         | write W!                 | 1        | free
      force write | a turn without an end | write w! turn:a persist:turn | 1    | free turn:a turnleft:50
      force write | its thread also reads | write w!:900 a:9000      | 1        | read a ttl:9000
      force write | a plain lock          | plain                    | LOCKTYPE | p
      # inspect
      inspect read  | free          | free                    | -2       | free
      inspect write | free          | free                    | -2       | free
      inspect read  | readers hold  | read a:900 b:9000       | ~9000    | read a b
      inspect read  | one of theirs | read A*3:over,9000,over | ~9000    | read A
      inspect read  | expired       | read a:over             | -2       | read a
      inspect write | read          | read a:900              | -2       | read a
      inspect write | written       | write w! ttl:9000       | ~9000    | write w!
      inspect read  | written       | write w! ttl:9000       | -2       | write w!
      inspect read  | both          | write w!:900 a:9000     | ~9000    | write w! a
      inspect write | both          | write w!:900 a:9000     | ~900     | write w! a
      inspect write | expired       | write w! a:9000         | -2       | write w! a
      inspect write | a plain lock  | plain                   | LOCKTYPE | p
      # heartbeats of an unfair lock
      reader_heartbeat a  | waits on              | write v! wait:a                 | 1 | write v! wait:a
      reader_heartbeat a  | does not wait         | write v!                        | 0 | write v! wait:
      reader_heartbeat a  | has its turn          | intent:v! turn:a                | 2 | free turn:a
      reader_heartbeat a  | may enter             | read b:900 wait:a               | 2 | read b wait:a
      reader_heartbeat a  | a writer intends      | read b:900 intent:v! wait:a     | 1 | read b wait:a
      writer_heartbeat w! | waits on              | read b:900 intent:w! writers:w! | 1 | read b intent:w! registered:5000
      writer_heartbeat w! | none intends          | read b:900                      | 0 | read b intent:
      writer_heartbeat w! | another intends       | read b:900 intent:v! writers:w! | 1 | read b intent:v!
      writer_heartbeat w! | free                  | intent:w! writers:w! | 2 | free intent:w!
      writer_heartbeat w! | another intends, free | intent:v! writers:w! | 2 | free intent:v!
      writer_heartbeat w! | turn of the readers   | intent:w! turn:a writers:w! | 1 | free turn:a
      writer_heartbeat w! | all have expired      | read b:over intent:w! writers:w! | 2 | free
      writer_heartbeat w! | a writer has expired  | write v! b:900 intent:w! wait:a writers:w! | 1 | read b turn:a
      writer_heartbeat w! | not registered        | read b:900 intent:w! writers:v! | 0 | read b intent:w! writers:v!
      writer_heartbeat w! | was notified          | read b:900 intent:w! writers:w!+ | 1 | read b intent:w! writers:w!+
      # a fair lock
      fair_read a waits          | free                                        | free                      | 1 T 0    | read a ttl:9000 queue:
      fair_write w! waits        | free                                        | free                      | 1 T 0    | write w! ttl:9000 queue:
      fair_read a waits          | beside readers                              | read b:900                | 1 T 0    | read a b queue:
      fair_read a waits          | behind a writer                             | read b:900 queue:v!       | 2 ~5000  | read b queue:v!,a
      fair_read a waits          | behind two                                  | read b:900 queue:v!,c     | 2 -1     | read b queue:v!,c,a
      fair_read a                | no wait, behind one                         | read b:900 queue:v!       | 0 1      | read b queue:v!
      fair_write w!              | no wait, free                               | queue:v!                  | 0 1      | free queue:v!
      fair_read a waits          | held for writing                            | write v! ttl:900          | 2 ~900   | write v! queue:a
      fair_write w! waits        | held for reading                            | read b:900                | 2 ~900   | read b queue:w!
      fair_write w! waits        | at the head                                 | queue:w!,a                | 1 T 0    | write w! queue:a
      fair_read a waits          | at the head                                 | queue:a,w!                | 1 T 0    | read a queue:w!
      fair_read a waits          | among readers                               | read b:900 queue:c,a,w!   | 1 T 0    | read a b queue:c,w!
      fair_read a waits          | after a writer                              | read b:900 queue:v!,a     | 2 ~5000  | read b queue:v!,a
      fair_write w! waits        | behind a reader                             | queue:c,w!                | 2 ~5000  | free queue:c,w!
      fair_write w! waits        | behind dead waiters                         | queue:v!~,c~,w!           | 1 T 0    | write w! queue:
      fair_read a waits          | after a dead writer                         | read b:900 queue:v!~,a    | 1 T 0    | read a b queue:
      fair_read a waits below w! | beside its own writer                       | write w! queue:v!         | 1 7 0    | write w! a queue:v!
      fair_read a waits          | an intent does not delay it                 | intent:v!                 | 1 T 0    | read a intent:v!
      fair_write w! waits        | the others have expired                     | read b:over               | 1 T 0    | write w! queue:
      fair_read a waits          | a plain lock                                | plain                     | LOCKTYPE | p queue:
      fair_write w! waits        | a plain lock                                | plain                     | LOCKTYPE | p queue:
      fair_heartbeat w!           | a heartbeat                                 | read b:900 queue:w!       | 1        | read b queue:w!
      fair_heartbeat w!           | not in the queue                            | read b:900                | 0        | read b queue:
      fair_heartbeat w!           | free now                                    | queue:w!                  | 2        | free queue:w!
      fair_heartbeat w!           | expired now                                 | read b:over queue:w!      | 2        | free queue:w!
      fair_heartbeat a            | may enter now                               | read b:900 queue:c,a      | 2        | read b queue:c,a
      fair_heartbeat w! v!        | a batch refreshes all before it removes any | queue:v!~,w!              | 1 2      | free queue:v!,w!
      fair_heartbeat a d w! c     | all readers of a batch                      | read b:900 queue:c,a,w!,d | 2 1 1 2  | read b queue:c,a,w!,d
      fair_heartbeat a            | not yet its turn                            | read b:900 queue:w!,a     | 1        | read b queue:w!,a
      """;

  @ParameterizedTest(name = "{0}, {1}: {2} -> {4}")
  @CsvSource(delimiter = '|', textBlock = STATES)
  void aScriptAnswersAndChangesTheStateAsTheTableSays(
      String call, String what, String before, String answer, String after) {
    for (NotedReaders noted : NotedReaders.values()) {
      for (String name : List.of("s:" + UUID.randomUUID(), "s:{" + UUID.randomUUID() + "}:x")) {
        try {
          aScriptAnswersAndChanges(
              new ScriptState(redis.server(), name, noted), call, before, answer, after);
        } catch (AssertionError e) {
          throw new AssertionError("the readers in the set: " + noted, e);
        }
      }
    }
  }

  private static void aScriptAnswersAndChanges(
      ScriptState state, String call, String before, String answer, String after) {
    state.write(before);
    if (answer.equals("LOCKTYPE")) {
      var refused = assertThrows(RuntimeException.class, () -> state.call(call));
      assertTrue(refused.getMessage().startsWith("LOCKTYPE"), refused::getMessage);
    } else {
      assertAnswer(answer, state.call(call));
    }
    state.assertIs(after);
  }

  private static void assertAnswer(String expected, Object answer) {
    List<?> values = answer instanceof List<?> list ? list : List.of(answer);
    String[] words = expected.split(" ", -1);
    assertEquals(words.length, values.size(), values::toString);
    for (int i = 0; i < words.length; i++) {
      long value = (Long) values.get(i);
      if (words[i].equals("T")) {
        assertTrue(value > 1_000_000_000_000_000L && value < 1L << 53, values::toString);
      } else if (words[i].startsWith("~")) {
        ScriptState.assertAbout(Long.parseLong(words[i].substring(1)), value, values.toString());
      } else {
        assertEquals(words[i], Long.toString(value), values::toString);
      }
    }
  }
}
