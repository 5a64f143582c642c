/** Metrics and traces of locks, by Micrometer. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // so are Micrometer's
module io.mortise.micrometer {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;
  requires static com.google.errorprone.annotations;
  requires transitive micrometer.commons;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires org.slf4j;

  exports io.mortise.micrometer;
}
