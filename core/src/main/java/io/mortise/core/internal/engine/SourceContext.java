package io.mortise.core.internal.engine;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.inspect.LockInspector;
import io.mortise.core.spi.WaitPolicy;
import java.util.function.Consumer;

/**
 * The services that every {@link RedisLeaseSource} of one client needs, created once when the
 * client is wired.
 *
 * @param waitPolicy decides how long callers wait
 * @param releaser runs the release of a handle on a worker; made once, so that a handle keeps
 *     neither one of its own nor its source
 */
record SourceContext(
    AcquireContext acquisitions,
    LockInspector inspector,
    WaitPolicy waitPolicy,
    WorkerPool workers,
    Consumer<Runnable> releaser) {}
