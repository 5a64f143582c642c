package io.mortise.testkit;

class RedisWaitContractTest extends WaitContract implements RedisLocks {}
