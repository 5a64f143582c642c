package io.mortise.cli.worker;

import java.util.Arrays;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * Two accounts: a number in Redis each, read with GET and written with SET, so that whoever
 * computes between the two needs a lock around them; and whoever moves money from one to the other
 * a lock around both.
 */
public final class Accounts {
  /** The keys go by themselves, should the demo be killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private final UnifiedJedis redis;
  private final String lockName;

  /** One of the two. */
  public enum Account {
    /** One. */
    A,
    /** The other. */
    B;

    /** The other one. */
    public Account other() {
      return this == A ? B : A;
    }

    /** For people. */
    @Override
    public String toString() {
      return "account " + name();
    }

    private String suffix() {
      return ":account-" + name();
    }
  }

  /** The accounts that are protected by the locks whose names begin with this. */
  public Accounts(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    this.lockName = lockName;
  }

  /** The name of the lock of this account. */
  public static String lockOf(String lockName, Account account) {
    return lockName + account.suffix() + "-lock";
  }

  /** What is on it. */
  public long read(Account account) {
    String balance = redis.get(key(account));
    if (balance == null) {
      throw new IllegalStateException("the account is gone: nobody set key '" + key(account) + "'");
    }
    return Long.parseLong(balance);
  }

  /** Overwrites what is there. */
  public void write(Account account, long balance) {
    redis.set(key(account), Long.toString(balance), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }

  /** Leaves nothing behind. */
  public void remove() {
    redis.del(Arrays.stream(Account.values()).map(this::key).toArray(String[]::new));
  }

  private String key(Account account) {
    return lockName + account.suffix();
  }
}
