package io.mortise.it.docs;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import javax.tools.DiagnosticListener;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;

/** Keeps what the compiler writes in memory, and forgets it. */
final class InMemoryOutput extends ForwardingJavaFileManager<StandardJavaFileManager> {
  InMemoryOutput(JavaCompiler compiler, DiagnosticListener<? super JavaFileObject> listener) {
    super(compiler.getStandardFileManager(listener, null, null));
  }

  @Override
  public JavaFileObject getJavaFileForOutput(
      Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
    return new SimpleJavaFileObject(URI.create("memory:///" + className), kind) {
      @Override
      public OutputStream openOutputStream() {
        return new ByteArrayOutputStream();
      }
    };
  }
}
