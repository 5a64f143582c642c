package io.mortise.schedules.agent;

import static io.mortise.schedules.agent.CallRewriter.HOOKS;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Calls hooks at the entries of the methods in which threads park, start and end. */
final class EntryHooks extends ClassVisitor {
  EntryHooks(ClassVisitor next) {
    super(Opcodes.ASM9, next);
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String descriptor, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
    return switch (name) {
      case "park", "parkNanos", "parkUntil", "unpark" ->
          new AnsweredHook(next, name, Type.getArgumentTypes(descriptor));
      case "start" -> new Hook(next, "starting", "(Ljava/lang/Thread;)V", 0);
      case "run" -> new Hook(next, "begin", "(Ljava/lang/Thread;)V", 0);
      case "exit" -> new Hook(next, "end", "()V", -1);
      case "dispatchUncaughtException" -> new Hook(next, "uncaught", "(Ljava/lang/Throwable;)V", 1);
      default -> next;
    };
  }

  /** Calls a hook first. */
  private static final class Hook extends MethodVisitor {
    private final String hook;
    private final String descriptor;
    private final int slot;

    /**
     * @param slot the local variable that the hook gets; -1 for none
     */
    Hook(MethodVisitor next, String hook, String descriptor, int slot) {
      super(Opcodes.ASM9, next);
      this.hook = hook;
      this.descriptor = descriptor;
      this.slot = slot;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (slot >= 0) {
        super.visitVarInsn(Opcodes.ALOAD, slot);
      }
      super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, descriptor, false);
    }
  }

  /** Calls a hook first, and returns if that has done all. */
  private static final class AnsweredHook extends MethodVisitor {
    private final String hook;
    private final Type[] parameters;

    AnsweredHook(MethodVisitor next, String hook, Type[] parameters) {
      super(Opcodes.ASM9, next);
      this.hook = hook;
      this.parameters = parameters;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      String descriptor = "()Z";
      int slot = 0;
      for (Type parameter : parameters) {
        boolean blocker = parameter.getDescriptor().equals("Ljava/lang/Object;");
        if (!blocker) {
          super.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), slot);
          descriptor = "(" + parameter.getDescriptor() + ")Z";
        }
        slot += parameter.getSize();
      }
      super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, descriptor, false);
      Label undone = new Label();
      super.visitJumpInsn(Opcodes.IFEQ, undone);
      super.visitInsn(Opcodes.RETURN);
      super.visitLabel(undone);
      super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
    }
  }
}
