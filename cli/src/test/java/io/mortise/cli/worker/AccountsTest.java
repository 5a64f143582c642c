package io.mortise.cli.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.cli.worker.Accounts.Account;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AccountsTest extends RedisFixture {
  @Test
  void eachAccountHasABalanceAndALockOfItsOwn() {
    Accounts accounts = new Accounts(redis, "two");
    accounts.write(Account.A, 5);
    accounts.write(Account.B, 7);
    assertEquals(5, accounts.read(Account.A));
    assertEquals(7, accounts.read(Account.A.other()));
    assertNotEquals(Accounts.lockOf("two", Account.A), Accounts.lockOf("two", Account.B));
  }

  @Test
  void afterRemovalNothingStandsInRedis() {
    Accounts accounts = new Accounts(redis, "gone");
    accounts.write(Account.A, 1);
    accounts.write(Account.B, 1);
    accounts.remove();
    assertEquals(Set.of(), redis.keys("gone*"));
    assertThrows(IllegalStateException.class, () -> accounts.read(Account.B));
  }
}
