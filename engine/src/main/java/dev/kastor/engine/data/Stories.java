package dev.kastor.engine.data;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The text that Kastor ships: stories of {@link StoryGenerator}, stored as a resource. */
public final class Stories {
  /** The seed that the shipped text was written with. */
  static final long SEED = 2026;

  /** Least length of the shipped text in characters. */
  static final int CHARACTERS = 160_000;

  private Stories() {}

  /** Reads the text; its last tenth is held out. */
  public static Text load() {
    try (InputStream in = Stories.class.getResourceAsStream("stories.txt")) {
      if (in == null) {
        throw new IllegalStateException("stories.txt is missing from the class path.");
      }
      return Text.split(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
