/** The read-write lock. */
@org.jspecify.annotations.NullMarked
module io.mortise.rwlock {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;

  exports io.mortise.rwlock;
}
