package io.mortise.testkit;

class RedisAtLeastContractTest extends AtLeastContract implements RedisLocks {}
