package io.mortise.cli.options;

import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Values that are made of options, and refuse what is wrong with them. */
public final class CheckedOptions {
  private CheckedOptions() {}

  /**
   * Returns the value that the options make.
   *
   * @param value throws {@code IllegalArgumentException} with the sentence for the user
   * @throws ParameterException if an option is refused, with the same sentence
   */
  public static <T> T valueOf(CommandSpec command, Supplier<T> value) {
    try {
      return value.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          command.commandLine(), OptionNames.in(String.valueOf(e.getMessage())), e);
    }
  }
}
