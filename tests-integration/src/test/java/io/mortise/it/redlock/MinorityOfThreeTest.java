package io.mortise.it.redlock;

class MinorityOfThreeTest extends MinorityContract {
  MinorityOfThreeTest() {
    super(3);
  }
}
