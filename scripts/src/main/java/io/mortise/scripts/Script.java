package io.mortise.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One Lua script: its text with everything it includes, its SHA-1 as EVALSHA takes it, and the
 * number of its keys and arguments.
 *
 * <p>A script is the file {@code <family>/<verb>.lua} beside this class. Its header declares every
 * key and argument, and {@link #load} refuses a file whose body does not agree with its header, so
 * that a mistake is detected when the class that uses it is loaded and not when a lock is
 * contended. A line {@code -- EACH} in the header says that the script works on a batch: keys and
 * arguments are then those of one item, and a call has any number of items.
 *
 * <p>Loading the same path twice returns the same object.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public final class Script {
  private static final Map<String, Script> LOADED = new ConcurrentHashMap<>();

  private final String path;
  private final byte[] text;
  private final byte[] sha1;
  private final ScriptHeader header;

  private Script(String path, String text) {
    this.path = path;
    this.text = ScriptText.withoutComments(text).getBytes(UTF_8);
    this.sha1 = HexFormat.of().formatHex(digest(this.text)).getBytes(UTF_8);
    this.header = ScriptHeader.of(path, text);
  }

  /**
   * Loads a script of this module.
   *
   * @param path family and verb, for example {@code lock/acquire}
   * @throws IllegalArgumentException if there is no such script, or its body contradicts its header
   */
  public static Script load(String path) {
    return LOADED.computeIfAbsent(path, p -> new Script(p, ScriptText.assemble(p, Script::read)));
  }

  /** Returns family and verb, for example {@code lock/acquire}. */
  public String path() {
    return path;
  }

  /** Returns a copy of the whole text, UTF-8, as EVAL takes it: without comments. */
  public byte[] text() {
    return text.clone();
  }

  /** Returns a copy of the SHA-1 of the text in lower-case hexadecimal, ASCII. */
  public byte[] sha1() {
    return sha1.clone();
  }

  /** Returns the number of keys of one call; of a batch script, of one item. */
  public int keys() {
    return header.keys();
  }

  /** Returns the number of arguments of one call; of a batch script, of one item. */
  public int arguments() {
    return header.arguments();
  }

  /** Returns whether keys and arguments may be repeated, once for each item of a batch. */
  public boolean batch() {
    return header.batch();
  }

  @Override
  public String toString() {
    return path;
  }

  private static String read(String path) {
    try (InputStream in = Script.class.getResourceAsStream(path + ".lua")) {
      if (in == null) {
        throw new IllegalArgumentException("there is no script '" + path + "'");
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("script '" + path + "' cannot be read", e);
    }
  }

  private static byte[] digest(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-1").digest(text);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
