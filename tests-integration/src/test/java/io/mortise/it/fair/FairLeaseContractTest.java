package io.mortise.it.fair;

import io.mortise.testkit.LeaseContract;
import org.junit.jupiter.api.Tag;

@Tag("redis-version")
class FairLeaseContractTest extends LeaseContract implements FairLocks {}
