package io.mortise.it.red;

class MinorityOfThreeTest extends MinorityContract {
  MinorityOfThreeTest() {
    super(3);
  }
}
