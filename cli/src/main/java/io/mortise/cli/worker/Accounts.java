package io.mortise.cli.worker;

import java.util.Arrays;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * Two accounts, each a number in Redis, read with GET and written with SET: a thread that computes
 * between the two needs the lock of the account, and a thread that moves money needs both locks.
 *
 * <p><b>Threads.</b> Any thread may call any method: the fields are final, and the Jedis client is
 * safe for threads. Only the lock of the callers orders a read and the write after it.
 */
public final class Accounts {
  /** The keys expire, in case the demo is killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private final UnifiedJedis redis;
  private final String lockName;

  /** The accounts. */
  public enum Account {
    /** The first account. */
    A,
    /** The second account. */
    B;

    /** Returns the other account. */
    public Account other() {
      return this == A ? B : A;
    }

    @Override
    public String toString() {
      return "account " + name();
    }

    private String suffix() {
      return ":account-" + name();
    }
  }

  /** The accounts whose locks have names that begin with this. */
  public Accounts(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    this.lockName = lockName;
  }

  /** Returns the name of the lock of this account. */
  public static String lockOf(String lockName, Account account) {
    return lockName + account.suffix() + "-lock";
  }

  /** Reads the balance. */
  public long read(Account account) {
    String balance = redis.get(key(account));
    if (balance == null) {
      throw new IllegalStateException("the account is missing: no key '" + key(account) + "'");
    }
    return Long.parseLong(balance);
  }

  /** Overwrites the balance. */
  public void write(Account account, long balance) {
    redis.set(key(account), Long.toString(balance), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }

  /** Removes all keys. */
  public void remove() {
    redis.del(Arrays.stream(Account.values()).map(this::key).toArray(String[]::new));
  }

  private String key(Account account) {
    return lockName + account.suffix();
  }
}
