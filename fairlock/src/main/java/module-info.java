/** The fair lock. */
@org.jspecify.annotations.NullMarked
module io.mortise.fairlock {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;

  exports io.mortise.fairlock;
}
