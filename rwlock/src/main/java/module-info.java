/** The read-write lock. */
@org.jspecify.annotations.NullMarked
module io.mortise.readwrite {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;

  exports io.mortise.readwrite;
}
