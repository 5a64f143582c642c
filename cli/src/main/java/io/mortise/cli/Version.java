package io.mortise.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar. */
public final class Version implements IVersionProvider {

  /** Returns the version, such as {@code 1.0.0}. */
  public static String ofMortise() {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {
      "mortise " + ofMortise(),
      "Java %s (%s)"
          .formatted(System.getProperty("java.version"), System.getProperty("java.vendor"))
    };
  }
}
