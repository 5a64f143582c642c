package io.mortise.it.red;

class MinorityOfFiveTest extends MinorityContract {
  MinorityOfFiveTest() {
    super(5);
  }
}
