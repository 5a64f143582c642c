package io.mortise.schedules.agent;

import static io.mortise.schedules.agent.CallRewriter.HOOKS;

import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Inserts a step before each access to state that threads share, and replaces monitors. */
final class StepInserter extends MethodVisitor {
  private static final String MAP_HOOKS = "io/mortise/schedules/runtime/MapHooks";
  private static final Set<String> UPDATES =
      Set.of("compute", "computeIfAbsent", "computeIfPresent", "merge");
  private static final Set<String> MAPS =
      Set.of(
          "java/util/Map",
          "java/util/concurrent/ConcurrentMap",
          "java/util/concurrent/ConcurrentHashMap");

  private static final AtomicInteger PLACES = new AtomicInteger();

  private final boolean initializer;
  private final BiPredicate<String, String> isVolatile;

  /**
   * @param isVolatile whether a field, of an owner and a name, is volatile
   */
  StepInserter(
      int api, MethodVisitor next, String methodName, BiPredicate<String, String> isVolatile) {
    super(api, next);
    this.initializer = methodName.equals("<clinit>");
    this.isVolatile = isVolatile;
  }

  private void call(String hook, String descriptor) {
    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, descriptor, false);
  }

  /** Inserts a step, with a number that no other place in the code has. */
  private void step() {
    super.visitLdcInsn(PLACES.incrementAndGet());
    call("step", "(I)V");
  }

  @Override
  public void visitCode() {
    super.visitCode();
    if (initializer) {
      call("beginAtomic", "()V");
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode == Opcodes.MONITORENTER) {
      call("monitorEnter", "(Ljava/lang/Object;)V");
      return;
    } else if (opcode == Opcodes.MONITOREXIT) {
      call("monitorExit", "(Ljava/lang/Object;)V");
      return;
    } else if (opcode == Opcodes.RETURN && initializer) {
      call("endAtomic", "()V");
    }
    super.visitInsn(opcode);
  }

  @Override
  public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
    if (isVolatile.test(owner, name)) {
      step();
    }
    super.visitFieldInsn(opcode, owner, name, descriptor);
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    if (MAPS.contains(owner) && UPDATES.contains(name)) {
      String rest = descriptor.substring(1);
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, MAP_HOOKS, name, "(Ljava/util/Map;" + rest, false);
      return;
    }
    boolean constructor = name.equals("<init>"); // no other thread has the object yet
    if (!constructor
        && (owner.startsWith("java/util/concurrent/")
            || owner.equals("java/lang/invoke/VarHandle"))) {
      step();
    }
    super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
  }
}
