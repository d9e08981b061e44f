package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.testkit.GoldenFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StoriesTest {
  /** {@code -Dkastor.golden.write=true} writes the resource anew. */
  @Test
  void shipsWhatTheGeneratorWrites() throws IOException {
    String written = new StoryGenerator(Stories.SEED).write(Stories.CHARACTERS);
    GoldenFile.at(Path.of("src/main/resources/dev/kastor/engine/data/stories.txt")).holds(written);
    Text text = Stories.load();

    assertThat(
            new String(text.training(), StandardCharsets.US_ASCII)
                + new String(text.heldOut(), StandardCharsets.US_ASCII))
        .isEqualTo(written);
  }

  @Test
  void holdsOutTheLastTenth() {
    Text text = Stories.load();

    assertThat(text.heldOut().length * 9.0 / text.training().length).isBetween(0.99, 1.01);
  }

  @Test
  void hasMoreStructureThanItsLetters() {
    Text text = Stories.load();

    assertThat(TextEntropy.unigramBits(text)).isBetween(4.0, 4.6);
    assertThat(TextEntropy.bigramBits(text)).isBetween(2.2, 3.4);
  }
}
