package io.mortise.it.redlock;

class MinorityOfFiveTest extends MinorityContract {
  MinorityOfFiveTest() {
    super(5);
  }
}
