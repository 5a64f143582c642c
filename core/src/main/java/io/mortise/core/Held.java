package io.mortise.core;

/** A hold of the current thread, as the resource of a {@code try} statement: closing it unlocks. */
@FunctionalInterface
interface Held extends AutoCloseable {
  @Override
  void close();
}
