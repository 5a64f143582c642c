package io.mortise.spring.boot.autoconfigure;

import java.security.CodeSource;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.ClassUtils;
import redis.clients.jedis.UnifiedJedis;

/**
 * The check that the application has the Jedis that locks need. Spring Boot 4.0 and 4.1 manage
 * Jedis 7, which would fail at the first lock, or with the first sentinel, cluster or TLS
 * connection.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
final class JedisVersion {
  private static final Pattern FILE = Pattern.compile("jedis-[^/!]*\\.jar");

  private JedisVersion() {}

  /**
   * Does nothing where Jedis is new enough.
   *
   * @throws UnsupportedJedisException if it is not
   */
  static void check() {
    check(UnifiedJedis.class.getClassLoader());
  }

  static void check(ClassLoader loader) {
    if (!has(loader, "redis.clients.jedis.SslOptions", "defaults")
        || !has(loader, "redis.clients.jedis.RedisSentinelClient", "getPrimaryNodesConnectionMap")
        || !has(loader, "redis.clients.jedis.RedisClusterClient", "refreshClusterTopology")) {
      throw new UnsupportedJedisException(version(loader));
    }
  }

  private static boolean has(ClassLoader loader, String type, String method) {
    return ClassUtils.isPresent(type, loader)
        && ClassUtils.hasAtLeastOneMethodWithName(
            ClassUtils.resolveClassName(type, loader), method);
  }

  /** The manifest of Jedis has no version, and the name of its file has. */
  private static String version(ClassLoader loader) {
    Class<?> type = ClassUtils.resolveClassName(UnifiedJedis.class.getName(), loader);
    CodeSource source = type.getProtectionDomain().getCodeSource();
    Matcher file = FILE.matcher(source == null ? "" : String.valueOf(source.getLocation()));
    return file.find() ? file.group() : "an older one";
  }
}
