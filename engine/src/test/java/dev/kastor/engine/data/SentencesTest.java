package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SentencesTest {
  @TempDir private Path folder;

  private Path file(String content) throws Exception {
    return Files.writeString(folder.resolve("s.tsv"), content, StandardCharsets.UTF_8);
  }

  @Test
  void readsLabelsAndBytesWhateverTheLineEnds() throws Exception {
    Sentences read =
        Sentences.read(file("\ufeffpos\tab\r\n\n neg \t ä, longer\r\npos\tc\nneg\td\te"), 4, 3);
    assertThat(read.labels()).containsExactly("neg", "pos");
    assertThat(read.training().examples()).isEqualTo(3);
    float[] tokens = new float[12];
    int[] targets = new int[3];
    read.training().gather(new int[] {1, 0, 2}, tokens, targets);
    assertThat(targets).containsExactly(0, 1, 0);
    assertThat(tokens)
        .containsExactly(
            0xc3 + 1, 0xa4 + 1, ',' + 1, ' ' + 1, // The first four bytes.
            'a' + 1, 'b' + 1, 0, 0, 'd' + 1, '\t' + 1, 'e' + 1, 0);
    read.heldOut().gather(new int[] {0}, tokens, targets);
    assertThat(tokens).startsWith('c' + 1, 0, 0, 0);
    assertThat(targets[0]).isEqualTo(1);
  }

  @Test
  void namesTheLineThatIsNone() throws Exception {
    for (String wrong : new String[] {"no tab", "\tno label", "nothing\t  "}) {
      Path file = file("a\tb\n\nc\td\n" + wrong + "\n");
      assertThatThrownBy(() -> Sentences.read(file, 8, 2))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("line 4 is not 'label<TAB>sentence'");
    }
  }

  @Test
  void refusesWhatCannotBeTrained() throws Exception {
    Path one = file("a\tb\na\tc\n");
    assertThatThrownBy(() -> Sentences.read(one, 8, 2)).hasMessageContaining("has 1 labels");
    Path few = file("a\tb\nb\tc\n");
    assertThatThrownBy(() -> Sentences.read(few, 8, 3)).hasMessageContaining("too few");
    Path latin =
        Files.writeString(
            folder.resolve("l"), "a\tb\n\na\t\u00e4\nb\tc\n", StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> Sentences.read(latin, 8, 3))
        .hasMessageContaining("line 3 is no text in UTF-8");
    assertThatThrownBy(() -> Sentences.read(folder, 8, 3)).hasMessageContaining("is a folder");
  }

  @Tag("slow")
  @Test
  void aGlanceAtALargeFileReadsItsBeginning() throws Exception {
    Path file = file("a\tb\nb\tc\n".repeat(200_000) + "broken");
    assertThat(Sentences.glance(file, 8, 10)).isGreaterThanOrEqualTo(360_000);
    assertThatThrownBy(() -> Sentences.read(file, 8, 10)).hasMessageContaining("line 400001");
  }
}
