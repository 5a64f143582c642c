/** A lock on a majority of independent nodes. */
@org.jspecify.annotations.NullMarked
module io.mortise.redlock {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;
  requires org.slf4j;

  exports io.mortise.redlock;
}
