package io.mortise.it.fair;

import io.mortise.testkit.WaitContract;
import org.junit.jupiter.api.Tag;

@Tag("redis-version")
class FairWaitContractTest extends WaitContract implements FairLocks {}
