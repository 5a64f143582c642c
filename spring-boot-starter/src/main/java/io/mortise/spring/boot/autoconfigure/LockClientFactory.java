package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;

/** Creates the client where no property says where Redis is. */
@FunctionalInterface
interface LockClientFactory {

  /** Creates the client with these options. Sends nothing. */
  LockClient create(LockOptions options);
}
