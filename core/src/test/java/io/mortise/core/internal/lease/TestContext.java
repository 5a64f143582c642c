package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.WorkerPool;

/** The context of a client, with some of its services replaced. */
public final class TestContext {
  private final LeaseContext client;
  private Ticker ticker;
  private BatchCollector batches;
  private BackgroundTasks tasks;
  private NotificationWorkers notifications;
  private BackgroundReleaser releases;

  public TestContext(LeaseContext client) {
    this.client = client;
    this.ticker = client.ticker();
    this.batches = client.batches();
    this.tasks = client.tasks();
    this.notifications = client.notifications();
    this.releases = client.releases();
  }

  /** Returns the context with another clock, and with batches that are not sent. */
  static LeaseContext unsent(LeaseContext client, Ticker ticker) {
    BatchCollector batches =
        new BatchCollector(client.commands(), new WorkerPool("unused"), ticker);
    return new TestContext(client).ticker(ticker).batches(batches).build();
  }

  public TestContext ticker(Ticker other) {
    this.ticker = other;
    return this;
  }

  private TestContext batches(BatchCollector other) {
    this.batches = other;
    return this;
  }

  TestContext tasks(BackgroundTasks other) {
    this.tasks = other;
    this.notifications = NotificationWorkers.of(other);
    return this;
  }

  /** Has the releases read another clock than the holds. */
  public TestContext tickerOfReleases(Ticker other) {
    this.releases =
        new BackgroundReleaser(
            client.commands(),
            client.scheduler(),
            client.tasks(),
            client.closing(),
            other,
            client.jitter(),
            client.observer());
    return this;
  }

  public LeaseContext build() {
    return new LeaseContext(
        client.options(),
        client.drift(),
        ticker,
        client.jitter(),
        client.closing(),
        client.operations(),
        client.commands(),
        batches,
        client.scheduler(),
        tasks,
        notifications,
        client.holds(),
        client.completions(),
        releases,
        client.observer(),
        client.failedRenewals(),
        client.events());
  }
}
