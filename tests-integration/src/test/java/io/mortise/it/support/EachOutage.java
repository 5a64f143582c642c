package io.mortise.it.support;

import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.EnumSource;

/** Each {@link ServerFault} during which a client gets no reply to a script. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@EnumSource(
    mode = EXCLUDE,
    names = {"UNHEARD", "RESTARTED_EMPTY", "SLOW"})
public @interface EachOutage {}
