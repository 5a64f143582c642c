/** Writes that refuse a holder who came too late. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Jedis names itself so
module io.mortise.fencing {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;
  requires transitive redis.clients.jedis;

  exports io.mortise.fencing;
}
