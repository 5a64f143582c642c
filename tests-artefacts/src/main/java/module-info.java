/** An application that uses every lock. */
module io.mortise.artefacts {
  requires io.mortise.fairlock;
  requires io.mortise.fencing;
  requires io.mortise.micrometer;
  requires io.mortise.multilock;
  requires io.mortise.redlock;
  requires io.mortise.rwlock;
  requires io.mortise.segmentedlock;
  requires io.mortise.testkit;
}
