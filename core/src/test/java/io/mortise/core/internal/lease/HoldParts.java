package io.mortise.core.internal.lease;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.spi.LeaseTerms;

/** The parts of one hold, for a test that calls them by themselves. */
final class HoldParts {
  static final String HOLDER = "holder";

  final HoldIdentity id = new HoldIdentity(new FakeProtocol("orders"), HOLDER, null);
  final LeaseStateMachine state = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
  final LeaseTiming timing;
  final LeaseRenewal renewal;
  final LeaseSlot slot;
  final LeaseTermination termination;
  final LeaseRelease release;

  HoldParts(LeaseContext context, LeaseTerms terms) {
    RegisteredHold registered = FakeRegisteredHold.of(this::lose);
    this.timing =
        LeaseTiming.granted(
            context, id.protocol(), terms, AttemptStart.now(context.holds(), context.ticker()));
    LossDetector losses = new LossDetector(context.ticker(), timing, state, registered);
    this.renewal = new LeaseRenewal(context, id, timing, state, losses, registered);
    FencingToken token =
        new FencingToken(context.commands(), context.options().tuning().tokenRetention(), id, 1, 0);
    this.slot = new LeaseSlot(context.options().tuning(), context.ticker(), context.closing());
    this.termination =
        new LeaseTermination(context.releases(), slot, id, token, timing, state, renewal);
    this.release =
        new LeaseRelease(
            context, id, token, timing, state, losses, renewal, termination, registered);
  }

  private boolean lose(Reason reason, long atNanos, String detail) {
    return termination.lose(reason, atNanos, detail);
  }
}
