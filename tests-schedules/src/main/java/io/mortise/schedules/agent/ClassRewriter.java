package io.mortise.schedules.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Decides which classes are rewritten, and how.
 *
 * <ul>
 *   <li>Mortise, Jedis and commons-pool: a step before each access to a volatile field, an atomic,
 *       a lock or a concurrent collection; monitors; time; ids.
 *   <li>{@code java.util.concurrent}: its clock. It blocks in {@code LockSupport} only.
 *   <li>{@code LockSupport} and {@code Thread}: where threads park, start and end.
 * </ul>
 *
 * <p><b>Threads.</b> Any thread loads classes.
 */
final class ClassRewriter implements ClassFileTransformer {
  private static final int API = Opcodes.ASM9;
  private static final String LOCK_SUPPORT = "java/util/concurrent/locks/LockSupport";
  private static final String THREAD = "java/lang/Thread";

  private final Map<String, Set<String>> volatiles = new ConcurrentHashMap<>();

  @Override
  public byte[] transform(
      ClassLoader loader,
      String name,
      Class<?> redefined,
      ProtectionDomain domain,
      byte[] classFile) {
    if (name == null) {
      return null;
    }
    try {
      return rewrite(name, classFile, loader);
    } catch (RuntimeException | Error e) {
      e.printStackTrace(); // the JVM would pass over it, and the class would run as it is
      throw e;
    }
  }

  byte[] rewrite(String name, byte[] classFile, ClassLoader loader) {
    boolean jdk = isConcurrent(name);
    if (!jdk && !isControlled(name) && !name.equals(LOCK_SUPPORT) && !name.equals(THREAD)) {
      return null;
    }
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    ClassVisitor visitor;
    if (name.equals(LOCK_SUPPORT) || name.equals(THREAD)) {
      visitor = new EntryHooks(writer);
    } else if (jdk) {
      visitor = new CallSites(writer);
    } else {
      visitor = new SynchronizedMethods(new CallSites(writer, loader), name);
    }
    reader.accept(visitor, 0);
    return writer.toByteArray();
  }

  /** Returns whether threads are switched inside the class. */
  private static boolean isControlled(String name) {
    return (name.startsWith("io/mortise/")
            && !name.startsWith("io/mortise/schedules/runtime/")
            && !name.startsWith("io/mortise/schedules/agent/"))
        || name.startsWith("redis/clients/jedis/")
        || name.startsWith("org/apache/commons/pool2/")
        || name.startsWith("com/google/common/base/Ticker");
  }

  /** Returns whether the class of the JDK uses the clock, or yields. */
  static boolean isConcurrent(String name) {
    return name.startsWith("java/util/concurrent/")
        && !name.startsWith("java/util/concurrent/atomic/")
        && !name.startsWith("java/util/concurrent/ConcurrentHashMap")
        && !name.startsWith("java/util/concurrent/ThreadLocalRandom")
        && !name.startsWith("java/util/concurrent/TimeUnit")
        && !name.equals(LOCK_SUPPORT);
  }

  /** The class visitor that replaces what stands in the bodies of methods. */
  private final class CallSites extends ClassVisitor {
    private final ClassLoader loader;
    private final boolean controlled;

    CallSites(ClassVisitor next, ClassLoader loader) {
      super(API, next);
      this.loader = loader;
      this.controlled = true;
    }

    CallSites(ClassVisitor next) {
      super(API, next);
      this.loader = null;
      this.controlled = false;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      MethodVisitor calls = new CallRewriter(API, next);
      return controlled
          ? new StepInserter(API, calls, name, (owner, field) -> isVolatile(owner, field, loader))
          : calls;
    }
  }

  private boolean isVolatile(String owner, String field, ClassLoader loader) {
    if (!isControlled(owner)) {
      return false;
    }
    return volatiles.computeIfAbsent(owner, name -> volatileFields(name, loader)).contains(field);
  }

  private static Set<String> volatileFields(String owner, ClassLoader loader) {
    Set<String> found = new HashSet<>();
    try (InputStream file = loader.getResourceAsStream(owner + ".class")) {
      new ClassReader(file)
          .accept(
              new ClassVisitor(API) {
                @Override
                public FieldVisitor visitField(
                    int access, String name, String descriptor, String signature, Object value) {
                  if ((access & Opcodes.ACC_VOLATILE) != 0) {
                    found.add(name);
                  }
                  return null;
                }
              },
              ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
    } catch (IOException e) {
      throw new IllegalStateException("the class file of " + owner + " cannot be read", e);
    }
    return found;
  }
}
