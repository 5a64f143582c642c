package io.mortise.testkit;

class RedisLeaseContractTest extends LeaseContract implements RedisLocks {}
