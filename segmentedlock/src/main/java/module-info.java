/** The segmented lock. */
@org.jspecify.annotations.NullMarked
module io.mortise.segmentedlock {
  requires transitive io.mortise.core;
  requires io.mortise.multilock;
  requires com.google.common;
  requires static transitive org.jspecify;

  exports io.mortise.segmentedlock;
}
