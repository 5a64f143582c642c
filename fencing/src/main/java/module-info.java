/** Fenced writes, which reject a holder with an old fencing token. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Jedis names itself so
module io.mortise.fencing {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;
  requires transitive redis.clients.jedis;

  exports io.mortise.fencing;
}
