package io.mortise.testkit.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LoadState;
import org.luaj.vm2.LuaClosure;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Prototype;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.compiler.LuaC;
import org.luaj.vm2.lib.BaseLib;
import org.luaj.vm2.lib.Bit32Lib;
import org.luaj.vm2.lib.MathLib;
import org.luaj.vm2.lib.PackageLib;
import org.luaj.vm2.lib.StringLib;
import org.luaj.vm2.lib.TableLib;
import org.luaj.vm2.lib.VarArgFunction;

/**
 * Runs Lua scripts as Redis does: {@code KEYS}, {@code ARGV}, {@code redis.call} and {@code
 * redis.pcall}; nothing of the JVM, and no files.
 *
 * <p>LuaJ speaks Lua 5.2, Redis 5.1. Mortise's scripts need two differences, which are here: {@code
 * unpack}, and {@code string.format}, whose precision LuaJ ignores.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}. The compiled scripts are
 * in a concurrent map, and do not change.
 */
final class LuaScripts {
  private static final String CHUNK = "@user_script";

  /** The scripts of all servers, by their SHA-1: a compiled script has no state. */
  private static final Map<String, Prototype> COMPILED = new ConcurrentHashMap<>();

  private final Map<String, String> texts = new HashMap<>();
  private final CommandTable commands;
  private final Globals globals = new Globals();
  private final LuaTable redis = new LuaTable();

  /**
   * Creates an environment without scripts.
   *
   * @param commands what {@code redis.call} may run
   */
  LuaScripts(CommandTable commands) {
    this.commands = commands;
    globals.load(new BaseLib());
    globals.load(new PackageLib());
    globals.load(new Bit32Lib());
    globals.load(new TableLib());
    globals.load(new StringLib());
    globals.load(new MathLib());
    LoadState.install(globals);
    LuaC.install(globals);
    for (String denied : List.of("dofile", "loadfile", "require", "package", "print")) {
      globals.set(denied, LuaValue.NIL);
    }
    globals.set("unpack", globals.get("table").get("unpack"));
    globals.get("string").set("format", function(LuaFormat::format));
    redis.set("call", function(args -> call(args, true)));
    redis.set("pcall", function(args -> call(args, false)));
    redis.set("error_reply", function(args -> table("err", args.arg1())));
    redis.set("status_reply", function(args -> table("ok", args.arg1())));
    redis.set("sha1hex", function(args -> toLua(sha1(fromBytes(args.checkstring(1))))));
    globals.set("redis", redis);
  }

  private interface Body {
    Varargs call(Varargs args);
  }

  private static VarArgFunction function(Body body) {
    return new VarArgFunction() {
      @Override
      public Varargs invoke(Varargs args) {
        return body.call(args);
      }
    };
  }

  private static LuaTable table(String field, LuaValue value) {
    LuaTable table = new LuaTable();
    table.set(field, value);
    return table;
  }

  // ---- the scripts that the server knows

  /** Stores a script; returns its SHA-1 in lower-case hexadecimal. */
  String load(String text) {
    String sha = sha1(text);
    texts.put(sha, text);
    return sha;
  }

  boolean knows(String sha) {
    return texts.containsKey(sha.toLowerCase(Locale.ROOT));
  }

  void flush() {
    texts.clear();
  }

  static String sha1(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(ISO_8859_1));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-1", e);
    }
  }

  // ---- running one

  /**
   * Runs a script.
   *
   * @throws RedisError if there is no such script, or the script fails
   */
  @Nullable Object run(String givenSha, List<String> keys, List<String> arguments) {
    String sha = givenSha.toLowerCase(Locale.ROOT);
    String text = texts.get(sha);
    if (text == null) {
      throw new RedisError("NOSCRIPT No matching script. Please use EVAL.");
    }
    try {
      LuaTable environment = new LuaTable();
      environment.setmetatable(table("__index", globals));
      environment.set("KEYS", list(keys));
      environment.set("ARGV", list(arguments));
      Prototype script = COMPILED.computeIfAbsent(sha, unused -> compile(text));
      return fromLua(new LuaClosure(script, environment).call());
    } catch (LuaError e) {
      throw new RedisError("%s script: %s, on %s:%d.".formatted(message(e), sha, CHUNK, 1));
    }
  }

  private Prototype compile(String text) {
    try {
      return globals.compilePrototype(new ByteArrayInputStream(text.getBytes(ISO_8859_1)), CHUNK);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the error that the script did not catch, with a code in front. */
  private static String message(LuaError error) {
    LuaValue thrown = error.getMessageObject();
    if (thrown != null && thrown.istable() && !thrown.get("err").isnil()) {
      return fromBytes(thrown.get("err").checkstring());
    }
    return "ERR " + error.getMessage();
  }

  private Varargs call(Varargs args, boolean throwing) {
    List<String> words = new ArrayList<>();
    try {
      for (int i = 1; i <= args.narg(); i++) {
        words.add(word(args.arg(i)));
      }
      if (words.isEmpty()) {
        throw new RedisError("ERR Please specify at least one argument for this redis.call() call");
      }
      return toLua(commands.run(words));
    } catch (RedisError e) {
      LuaTable error = table("err", toLua(e.reply()));
      if (throwing) {
        throw new LuaError(error);
      }
      return error;
    }
  }

  private static String word(LuaValue value) {
    if (value.type() == LuaValue.TNUMBER) {
      return Words.ofNumber(value.todouble());
    } else if (value.type() == LuaValue.TSTRING) {
      return fromBytes(value.checkstring());
    }
    throw new RedisError("ERR Lua redis lib command arguments must be strings or integers");
  }

  // ---- values

  private static String fromBytes(LuaString bytes) {
    return new String(bytes.m_bytes, bytes.m_offset, bytes.m_length, ISO_8859_1);
  }

  private static LuaTable list(List<?> items) {
    LuaTable list = new LuaTable();
    for (int i = 0; i < items.size(); i++) {
      list.set(i + 1, toLua(items.get(i)));
    }
    return list;
  }

  private static LuaValue toLua(@Nullable Object reply) {
    if (reply == null) {
      return LuaValue.FALSE;
    } else if (reply instanceof Long number) {
      return LuaValue.valueOf(number.doubleValue());
    } else if (reply instanceof Replies.Status status) {
      return table("ok", toLua(status.text()));
    } else if (reply instanceof List<?> items) {
      return list(items);
    }
    return LuaString.valueOf(((String) reply).getBytes(ISO_8859_1));
  }

  private static @Nullable Object fromLua(LuaValue value) {
    return switch (value.type()) {
      case LuaValue.TSTRING -> fromBytes(value.checkstring());
      case LuaValue.TNUMBER -> (Object) (long) value.todouble();
      case LuaValue.TBOOLEAN -> value.toboolean() ? 1L : null;
      case LuaValue.TTABLE -> fromTable(value.checktable());
      default -> null;
    };
  }

  private static Object fromTable(LuaTable table) {
    LuaValue error = table.rawget("err");
    if (error.type() == LuaValue.TSTRING) {
      return new RedisError(fromBytes(error.checkstring()));
    }
    LuaValue status = table.rawget("ok");
    if (status.type() == LuaValue.TSTRING) {
      return new Replies.Status(fromBytes(status.checkstring()));
    }
    List<@Nullable Object> items = new ArrayList<>();
    for (int i = 1; !table.rawget(i).isnil(); i++) {
      items.add(fromLua(table.rawget(i)));
    }
    return items;
  }
}
