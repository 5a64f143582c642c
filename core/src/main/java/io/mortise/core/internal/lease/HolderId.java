package io.mortise.core.internal.lease;

import io.mortise.core.LockInspection.Participant.Library;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The id of a holder in Redis, as far as its parts are known.
 *
 * <p>Mortise makes {@code <client id>:<number>-<thread>-<millis>}, numbers in base 36: the number
 * of the acquisition, the thread that asks, and when it asked by the clock of its process. An id
 * that is made before a thread asks, as those of reserved channels, is {@code <client
 * id>:<number>}; so is one of an earlier version, in base 10. Redisson makes {@code <client
 * id>:<thread>}, in base 10. No script and no peer reads these parts.
 *
 * @param clientId the client; empty when the id has another form
 * @param maker which library made the id, judged by the version of the client's UUID
 * @param threadId the thread in its process, or {@link #UNKNOWN}
 * @param askedMillis when it asked, epoch ms, or {@link #UNKNOWN}
 */
public record HolderId(String clientId, Library maker, long threadId, long askedMillis) {
  /** A part that is not known. */
  public static final long UNKNOWN = -1;

  private static final int RADIX = Character.MAX_RADIX;
  private static final String UUID_OF_VERSION =
      "([0-9a-f]{8}-[0-9a-f]{4}-%s[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}):";
  private static final String DIGITS = "[0-9a-z]{1,12}";
  private static final Pattern MORTISE =
      Pattern.compile(
          UUID_OF_VERSION.formatted("8") + DIGITS + "(?:-(" + DIGITS + ")-(" + DIGITS + "))?");
  private static final Pattern REDISSON =
      Pattern.compile(UUID_OF_VERSION.formatted("4") + "([0-9]{1,18})");

  /** Returns the text of an id for an acquisition that begins now. */
  static String text(String clientId, long number, long threadId, long askedMillis) {
    return clientId + ":" + digits(number) + "-" + digits(threadId) + "-" + digits(askedMillis);
  }

  /** Returns the text of an id that is made before a thread asks. */
  static String text(String clientId, long number) {
    return clientId + ":" + digits(number);
  }

  private static String digits(long number) {
    return Long.toString(number, RADIX);
  }

  /** Reads an id; one of another form has no parts. */
  public static HolderId of(String holder) {
    Matcher mortise = MORTISE.matcher(holder);
    if (mortise.matches()) {
      return new HolderId(
          mortise.group(1), Library.MORTISE, number(mortise.group(2)), number(mortise.group(3)));
    }
    Matcher redisson = REDISSON.matcher(holder);
    if (redisson.matches()) {
      long thread = Long.parseLong(redisson.group(2));
      return new HolderId(redisson.group(1), Library.REDISSON, thread, UNKNOWN);
    }
    return new HolderId("", Library.UNKNOWN, UNKNOWN, UNKNOWN);
  }

  private static long number(@Nullable String digits) {
    return digits == null ? UNKNOWN : Long.parseLong(digits, RADIX);
  }
}
