package io.mortise.schedules.agent;

import java.util.Map;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Replaces calls that block, that read a clock, or that make something random. */
final class CallRewriter extends MethodVisitor {
  static final String HOOKS = "io/mortise/schedules/runtime/Hooks";
  private static final String SOURCE_HOOKS = "io/mortise/schedules/runtime/SourceHooks";

  /** From owner, name and descriptor to the hook, whose first parameter is the receiver. */
  private static final Map<String, String[]> REPLACED =
      Map.ofEntries(
          Map.entry("java/lang/System.nanoTime()J", source("nanoTime", "()J")),
          Map.entry("java/lang/System.currentTimeMillis()J", source("currentTimeMillis", "()J")),
          Map.entry(
              "java/time/Instant.now()Ljava/time/Instant;",
              source("instant", "()Ljava/time/Instant;")),
          Map.entry(
              "java/time/InstantSource.system()Ljava/time/InstantSource;",
              source("instantSource", "()Ljava/time/InstantSource;")),
          Map.entry(
              "java/lang/System.identityHashCode(Ljava/lang/Object;)I",
              source("identityHashCode", "(Ljava/lang/Object;)I")),
          Map.entry("java/lang/Thread.yield()V", hook("yieldTurn", "()V")),
          Map.entry("java/lang/Thread.onSpinWait()V", hook("yieldTurn", "()V")),
          Map.entry("java/lang/Thread.sleep(J)V", hook("sleep", "(J)V")),
          Map.entry(
              "java/util/concurrent/TimeUnit.sleep(J)V",
              hook("sleep", "(Ljava/util/concurrent/TimeUnit;J)V")),
          Map.entry("java/lang/Thread.isAlive()Z", hook("isAlive", "(Ljava/lang/Thread;)Z")),
          Map.entry("java/lang/Thread.getId()J", hook("threadId", "(Ljava/lang/Thread;)J")),
          Map.entry("java/lang/Thread.join()V", hook("join", "(Ljava/lang/Thread;)V")),
          Map.entry("java/lang/Thread.join(J)V", hook("join", "(Ljava/lang/Thread;J)V")),
          Map.entry("java/lang/Object.wait()V", hook("await", "(Ljava/lang/Object;)V")),
          Map.entry("java/lang/Object.wait(J)V", hook("await", "(Ljava/lang/Object;J)V")),
          Map.entry("java/lang/Object.notify()V", hook("notifyOne", "(Ljava/lang/Object;)V")),
          Map.entry("java/lang/Object.notifyAll()V", hook("notifyAll", "(Ljava/lang/Object;)V")),
          Map.entry(
              "java/util/UUID.randomUUID()Ljava/util/UUID;",
              source("randomUuid", "()Ljava/util/UUID;")),
          Map.entry("java/lang/Math.random()D", source("random", "()D")),
          Map.entry(
              "java/util/concurrent/ThreadLocalRandom.nextDouble()D",
              source("nextDouble", "(Ljava/util/concurrent/ThreadLocalRandom;)D")),
          Map.entry(
              "java/util/concurrent/ThreadLocalRandom.nextInt(I)I",
              source("nextInt", "(Ljava/util/concurrent/ThreadLocalRandom;I)I")),
          Map.entry(
              "java/util/concurrent/ThreadLocalRandom.nextLong(J)J",
              source("nextLong", "(Ljava/util/concurrent/ThreadLocalRandom;J)J")));

  CallRewriter(int api, MethodVisitor next) {
    super(api, next);
  }

  private static String[] hook(String name, String descriptor) {
    return new String[] {HOOKS, name, descriptor};
  }

  private static String[] source(String name, String descriptor) {
    return new String[] {SOURCE_HOOKS, name, descriptor};
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    String[] hook = REPLACED.get(owner + "." + name + descriptor);
    if (hook == null) {
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    } else {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, hook[0], hook[1], hook[2], false);
    }
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String descriptor, Handle bootstrap, Object... arguments) {
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i] instanceof Handle) {
        Handle handle = (Handle) arguments[i];
        String[] hook = REPLACED.get(handle.getOwner() + "." + handle.getName() + handle.getDesc());
        if (hook != null) {
          arguments[i] = new Handle(Opcodes.H_INVOKESTATIC, hook[0], hook[1], hook[2], false);
        }
      }
    }
    super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
  }
}
