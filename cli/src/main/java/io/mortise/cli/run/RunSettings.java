package io.mortise.cli.run;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings under which a command runs.
 *
 * @param command the command and its arguments
 * @param maxWait how long to wait for the lock; null for without end
 * @param grace the time between TERM and KILL when the lock is lost
 * @param conflictStatus the exit status if another owner holds the lock
 * @param quiet whether to print nothing then
 * @param foreground whether the command stays in the process group of this process
 * @param quorum whether the lock is on several servers
 */
public record RunSettings(
    List<String> command,
    @Nullable Duration maxWait,
    Duration grace,
    int conflictStatus,
    boolean quiet,
    boolean foreground,
    boolean quorum) {}
