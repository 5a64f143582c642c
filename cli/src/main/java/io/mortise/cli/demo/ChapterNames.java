package io.mortise.cli.demo;

import java.util.Iterator;

/** For picocli's help and completion. */
final class ChapterNames implements Iterable<String> {
  @Override
  public Iterator<String> iterator() {
    return Chapters.all().stream().map(Chapter::name).iterator();
  }
}
