package io.mortise.it.rwlock;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test that runs with an unfair read-write lock, and with a fair one. */
@ParameterizedTest(name = "fair: {0}")
@ValueSource(booleans = {false, true})
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface FairAndUnfair {}
