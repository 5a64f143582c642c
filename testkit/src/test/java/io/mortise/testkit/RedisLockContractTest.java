package io.mortise.testkit;

class RedisLockContractTest extends LockContract implements RedisLocks {}
