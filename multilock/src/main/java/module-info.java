/** Several locks as one. */
@org.jspecify.annotations.NullMarked
module io.mortise.multilock {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;
  requires org.slf4j;

  exports io.mortise.multilock;
}
