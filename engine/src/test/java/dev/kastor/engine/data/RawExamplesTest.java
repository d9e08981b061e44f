package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.data.Inputs.Categories;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RawExamplesTest {
  private static final Inputs NUMBERS =
      new Inputs.Numbers(List.of("a", "b"), new float[2], new float[2]);
  private static final Inputs CATEGORIES =
      new Categories(
          List.of(
              new Categories.Column("city", Buckets.Values.of(List.of("Bonn", "Kiel")), 0),
              new Categories.Column("age", new Buckets.Ranges(1, new double[] {18, 65}, 4), 2)),
          List.of());

  @TempDir Path folder;

  @Test
  void columnsAreFoundByNameWhereverTheyAre() throws Exception {
    RawExamples rows = read(NUMBERS, "b;label;a\n2;x;1\n4;y;3e1\n");

    assertThat(rows.values()).containsExactly(1, 2, 30, 4);
    assertThat(rows.names()).containsExactly("row 1", "row 2");
  }

  @Test
  void whatIsNoNumberIsRefusedWithItsPlace() {
    assertThatThrownBy(() -> read(NUMBERS, "a,b\n1,2\n1,x\n"))
        .hasMessageContaining("row 2, field 'b' is not a number: 'x'");
    assertThatThrownBy(() -> read(NUMBERS, "a,c\n1,2\n")).hasMessageContaining("no column 'b'");
    assertThatThrownBy(() -> read(NUMBERS, "a,b\n1\n")).hasMessageContaining("row 1 has 1 fields");
  }

  @Test
  void fieldsHaveTheBucketsOfTheTraining() throws Exception {
    RawExamples rows = read(CATEGORIES, "age,city\n17.9,Kiel\n18,Bonn\n90,Bonn\n,Kiel\n");

    assertThat(rows.values()).containsExactly(1, 1, 0, 2, 0, 3, 1, 0);
    assertThatThrownBy(() -> read(CATEGORIES, "age,city\n1,Ulm\n"))
        .hasMessageContaining("row 1, field 'city' is 'Ulm', which no row had");
  }

  @Test
  void ofATextItsEndIsTaken() throws Exception {
    RawExamples longer = read(new Inputs.Bytes(3), "abcde");
    assertThat(longer.values()).containsExactly('c', 'd', 'e');
    assertThat(longer.position()).isEqualTo(2);

    RawExamples shorter = read(new Inputs.Bytes(3), "a");
    assertThat(shorter.values()).containsExactly('a', 0, 0);
    assertThat(shorter.position()).isZero();
  }

  @Test
  void imagesAreBroughtToTheSizeOfTheModel() throws Exception {
    BufferedImage image = new BufferedImage(4, 4, BufferedImage.TYPE_BYTE_GRAY);
    for (int i = 0; i < 16; i++) {
      image.getRaster().setSample(i % 4, i / 4, 0, i % 4 < 2 ? 255 : 51);
    }
    Path file = folder.resolve("half.png");
    ImageIO.write(image, "png", file.toFile());

    assertThat(RawExamples.read(new Inputs.Pixels(2, 2, 1, 255, 1, 0, 1), file).values())
        .containsExactly(255, 51, 255, 51);
    assertThat(RawExamples.read(new Inputs.Pixels(2, 2, 1, 1, 1, 0, 1), file).values())
        .containsExactly(1, 51 / 255f, 1, 51 / 255f);
    assertThatThrownBy(() -> RawExamples.read(new Inputs.Pixels(2, 3, 1, 255, 1, 0, 1), file))
        .hasMessageContaining("is 4x4 pixels, and the model takes 3x2");
  }

  @Test
  void aModelThatDoesNotSayWhatItTakesReadsNothing() {
    assertThatThrownBy(() -> read(new Inputs.Features(), "x"))
        .hasMessageContaining("does not say what its features are made from");
  }

  @Test
  void readsSentencesAsTrainingDoes() throws Exception {
    Inputs three = new Inputs.Sentences(3);
    RawExamples sentences = read(three, "\ufeffab\n \t \r\n\nlabel\t c\n");
    assertThat(sentences.names()).containsExactly("line 1", "line 4");
    assertThat(sentences.values()).containsExactly('a' + 1, 'b' + 1, 0, 'c' + 1, 0, 0);
    assertThatThrownBy(() -> read(three, "a\nlabel\t  \n")).hasMessageContaining("line 2 is not");
    assertThatThrownBy(() -> read(three, "\n")).hasMessageContaining("has 0 sentences");
  }

  private RawExamples read(Inputs inputs, String text) throws Exception {
    return RawExamples.read(inputs, Files.writeString(folder.resolve("given"), text));
  }
}
