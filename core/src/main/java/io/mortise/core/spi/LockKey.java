package io.mortise.core.spi;

/**
 * The key of a lock in Redis: a name in a deployment.
 *
 * @param deployment the Redis that has it
 * @param name the name of the lock there
 */
public record LockKey(RedisDeployment deployment, String name) {

  /** Returns whether both are one key in Redis, judged by the addresses. Sends nothing. */
  public boolean sharesAddress(LockKey other) {
    return name.equals(other.name) && deployment.address().equals(other.deployment.address());
  }
}
