package io.mortise.schedules.agent;

import static io.mortise.schedules.agent.CallRewriter.HOOKS;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Makes of each synchronized method {@code m} a method {@code m$body} that is not synchronized, and
 * a method {@code m} that calls it between two hooks.
 */
final class SynchronizedMethods extends ClassVisitor {
  private final String className;

  SynchronizedMethods(ClassVisitor next, String className) {
    super(Opcodes.ASM9, next);
    this.className = className;
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String descriptor, String signature, String[] exceptions) {
    if ((access & Opcodes.ACC_SYNCHRONIZED) == 0 || (access & Opcodes.ACC_NATIVE) != 0) {
      return super.visitMethod(access, name, descriptor, signature, exceptions);
    }
    int unsynchronized = access & ~Opcodes.ACC_SYNCHRONIZED;
    writeWrapper(unsynchronized, name, descriptor, signature, exceptions);
    int visibility = Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED | Opcodes.ACC_PRIVATE;
    int body = (unsynchronized & ~visibility) | Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC;
    return super.visitMethod(body, name + "$body", descriptor, signature, exceptions);
  }

  private void writeWrapper(
      int access, String name, String descriptor, String signature, String[] exceptions) {
    boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
    MethodVisitor code = cv.visitMethod(access, name, descriptor, signature, exceptions);
    code.visitCode();
    Label start = new Label();
    Label end = new Label();
    Label failed = new Label();
    code.visitTryCatchBlock(start, end, failed, null);
    hook(code, isStatic, "monitorEnter");
    code.visitLabel(start);
    int slot = 0;
    if (!isStatic) {
      code.visitVarInsn(Opcodes.ALOAD, slot++);
    }
    for (Type parameter : Type.getArgumentTypes(descriptor)) {
      code.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), slot);
      slot += parameter.getSize();
    }
    code.visitMethodInsn(
        isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL,
        className,
        name + "$body",
        descriptor,
        false);
    code.visitLabel(end);
    hook(code, isStatic, "monitorExit");
    code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
    code.visitLabel(failed);
    code.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Throwable"});
    hook(code, isStatic, "monitorExit");
    code.visitInsn(Opcodes.ATHROW);
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private void hook(MethodVisitor code, boolean isStatic, String name) {
    if (isStatic) {
      code.visitLdcInsn(Type.getObjectType(className));
    } else {
      code.visitVarInsn(Opcodes.ALOAD, 0);
    }
    code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, "(Ljava/lang/Object;)V", false);
  }
}
