/** The fair lock. */
@org.jspecify.annotations.NullMarked
module io.mortise.fair {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;

  exports io.mortise.fair;
}
