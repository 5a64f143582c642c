package io.mortise.cli.options;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The URIs of the servers: those of the options, or of the environment, with the password. */
final class RedisUris {
  static final String DEFAULT = "redis://127.0.0.1:6379";

  /** The variable with the URIs, read without {@code --redis}; blanks are between them. */
  static final String URIS_VARIABLE = "MORTISE_REDIS";

  /** The variable in which {@code redis-cli} expects the password too. */
  static final String PASSWORD_VARIABLE = "REDISCLI_AUTH";

  /** The variable with the password of sentinels, which is none of the servers that they watch. */
  static final String SENTINEL_PASSWORD_VARIABLE = "MORTISE_SENTINEL_PASSWORD";

  private static final Pattern SENTINELS = Pattern.compile("(?i)rediss?-sentinel://");

  private RedisUris() {}

  /**
   * Returns the URIs to connect to.
   *
   * @param given those of the command line
   */
  static List<String> of(List<String> given, Map<String, String> environment) {
    List<String> uris = given;
    if (uris.isEmpty()) {
      String listed = environment.get(URIS_VARIABLE);
      uris = listed == null || listed.isBlank() ? List.of(DEFAULT) : words(listed);
    }
    String password = environment.get(PASSWORD_VARIABLE);
    return password == null || password.isEmpty()
        ? List.copyOf(uris)
        : uris.stream().map(uri -> withPassword(uri, password)).toList();
  }

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  /** Adds the password to a URI that has none; a user in it stays. */
  private static String withPassword(String uri, String password) {
    int scheme = uri.indexOf("://");
    if (scheme < 0) {
      return uri; // is refused when it is parsed
    }
    int from = scheme + 3;
    int at = uri.lastIndexOf('@');
    String user = at < from ? "" : uri.substring(from, at);
    if (user.contains(":")) {
      return uri;
    }
    String encoded = URLEncoder.encode(password, UTF_8).replace("+", "%20");
    return uri.substring(0, from)
        + user
        + ":"
        + encoded
        + "@"
        + uri.substring(Math.max(from, at + 1));
  }

  /** Returns whether the hosts of the URI are sentinels. */
  static boolean namesSentinels(String uri) {
    return SENTINELS.matcher(uri).lookingAt();
  }

  /** Returns the URI without user and password, for messages. */
  static String shown(String uri) {
    return uri.replaceFirst("^([^/]*://).*@", "$1");
  }
}
