package io.mortise.spring.boot.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains the failure in the form of Spring Boot: what is wrong, and what to do.
 *
 * <p><b>Threads.</b> Spring Boot calls it on the thread that starts the application.
 */
final class UnsupportedJedisFailureAnalyzer
    extends AbstractFailureAnalyzer<UnsupportedJedisException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, UnsupportedJedisException cause) {
    return new FailureAnalysis(
        "Spring Boot manages the version of Jedis: " + cause.getMessage() + ".",
        UnsupportedJedisException.REMEDY,
        cause);
  }
}
