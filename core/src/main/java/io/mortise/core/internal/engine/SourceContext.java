package io.mortise.core.internal.engine;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.inspect.LockInspector;
import io.mortise.core.spi.WaitPolicy;
import java.util.function.Consumer;

/**
 * The services that every lock of one client needs, created once when the client is wired.
 *
 * @param clientId the id of the client, for messages
 * @param waitPolicy decides how long callers wait
 * @param releaser runs the release of a handle on a worker; made once, so that a handle keeps
 *     neither one of its own nor its source
 */
record SourceContext(
    String clientId,
    AcquireContext acquisitions,
    LockInspector inspector,
    WaitPolicy waitPolicy,
    WorkerPool workers,
    Consumer<Runnable> releaser) {}
