package io.mortise.testkit;

class RedisShortFormsContractTest extends ShortFormsContract implements RedisLocks {}
