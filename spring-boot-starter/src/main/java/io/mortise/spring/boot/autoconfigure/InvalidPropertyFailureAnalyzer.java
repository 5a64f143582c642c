package io.mortise.spring.boot.autoconfigure;

import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Explains the failure in the form of Spring Boot: which property, from where, and what is wrong
 * with it. Spring Boot's own analyzer would print the value, and a URI may have a password.
 *
 * <p><b>Threads.</b> Spring Boot calls it on the thread that starts the application.
 */
final class InvalidPropertyFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidPropertyException> {
  private static final String FORMS_OF_A_URI =
      "Write redis://[[user]:password@]host[:port][/database] for one server, redis://host1,host2"
          + " or redis-cluster://host1 for a cluster, redis-sentinel://host1,host2/0#master for sentinels, with rediss for"
          + " TLS; without the property the locks use the Jedis client of the application, or what"
          + " spring.data.redis names.";

  private final Environment environment;

  /** Spring Boot gives it the environment of the application that did not start. */
  InvalidPropertyFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, InvalidPropertyException cause) {
    String property = cause.property();
    return new FailureAnalysis(
        "%s%s.".formatted(cause.getMessage(), origin(property)),
        property.equals(InvalidPropertyException.REDIS_URI)
            ? FORMS_OF_A_URI
            : "Correct %s, or remove it to get its default.".formatted(property),
        cause);
  }

  private String origin(String property) {
    ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
    return StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false)
        .flatMap(source -> Stream.ofNullable(source.getConfigurationProperty(name)))
        .findFirst()
        .map(ConfigurationProperty::getOrigin)
        .map(origin -> " (from %s)".formatted(origin))
        .orElse("");
  }
}
