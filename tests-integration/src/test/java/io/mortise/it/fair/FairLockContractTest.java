package io.mortise.it.fair;

import io.mortise.testkit.LockContract;
import org.junit.jupiter.api.Tag;

@Tag("redis-version")
class FairLockContractTest extends LockContract implements FairLocks {}
