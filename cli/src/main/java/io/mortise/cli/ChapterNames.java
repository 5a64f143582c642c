package io.mortise.cli;

import io.mortise.cli.demo.Chapter;
import io.mortise.cli.demo.Chapters;
import java.util.Iterator;

/** The names of all chapters, for the help and the completion of picocli. */
final class ChapterNames implements Iterable<String> {
  @Override
  public Iterator<String> iterator() {
    return Chapters.all().stream().map(Chapter::name).iterator();
  }
}
