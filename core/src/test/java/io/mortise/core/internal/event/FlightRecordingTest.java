package io.mortise.core.internal.event;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;

/** Where the classes of the locks do not see Flight Recorder, nothing is recorded. */
class FlightRecordingTest {

  /** Loads the events of the locks itself, and hides Flight Recorder from them. */
  private static final class HidingLoader extends ClassLoader {
    HidingLoader() {
      super(FlightRecordingTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("jdk.jfr.")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.startsWith(FlightRecording.class.getPackageName())) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void behindALoaderThatHidesFlightRecorderItIsOff() throws Exception {
    Class<?> hidden = new HidingLoader().loadClass(FlightRecording.class.getName());
    Method isOn = hidden.getDeclaredMethod("isOn");
    isOn.setAccessible(true);

    assertEquals(false, isOn.invoke(null));
    assertEquals(false, isOn.invoke(null), "the second time a class is known not to be there");
  }
}
