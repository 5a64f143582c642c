package io.mortise.core.internal.event;

import io.mortise.core.LeaseLoss;
import org.jspecify.annotations.Nullable;

/**
 * The recording by Java Flight Recorder, if this JVM has it. Without the module {@code jdk.jfr}, or
 * behind a class loader that hides it, none of the classes of the events is loaded: only this class
 * names them. Nor does a lock fail when one of them cannot be initialized, as after a stack
 * overflow.
 *
 * <p><b>Cost.</b> While no recording has one of the events enabled, an acquisition reads their two
 * flags, and makes no object that lives longer than that.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class FlightRecording {
  private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private FlightRecording() {}

  /** Returns whether the events of acquisitions are enabled in a recording. */
  static boolean isOn() {
    try {
      return AVAILABLE && AcquisitionRecording.isOn();
    } catch (LinkageError hidden) { // or not initialized
      return false;
    }
  }

  /** Returns the recording of an acquisition that begins now; null if nothing is recorded. */
  static @Nullable AcquisitionRecording begin(String lockKind, String lockName, String threadName) {
    return isOn() ? new AcquisitionRecording(lockKind, lockName, threadName) : null;
  }

  public static void lost(LeaseLoss loss) {
    if (AVAILABLE) {
      try {
        LeaseLost.record(loss);
      } catch (Throwable unrecorded) { // an error too; the log, which comes next, has the loss
        return;
      }
    }
  }
}
