package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileDatasetsTest {
  @TempDir Path folder;

  // IDX

  @Test
  void readsIdx() throws Exception {
    ImageSet set =
        IdxDataset.read(write("images", idxImages(3, 2, 4)), write("labels", idxLabels(0, 7, 2)));

    assertThat(set.examples()).isEqualTo(3);
    assertThat(set.height()).isEqualTo(2);
    assertThat(set.width()).isEqualTo(4);
    assertThat(set.classes()).isEqualTo(8);
    assertThat(set.labels()).containsExactly(0, 7, 2);
    assertThat(set.pixels()[5]).isEqualTo(50 / 255f);
  }

  @Test
  void readsAnIdxFolderPartlyZipped() throws Exception {
    write("train-images-idx3-ubyte", idxImages(4, 3, 3));
    write("train-labels-idx1-ubyte.gz", zip(idxLabels(0, 1, 2, 3)));
    write("t10k-images-idx3-ubyte.gz", zip(idxImages(2, 3, 3)));
    write("t10k-labels-idx1-ubyte", idxLabels(5, 1));

    LabelledImages images = IdxDataset.readFolder(folder);
    assertThat(images.training().examples()).isEqualTo(4);
    assertThat(images.heldOut().examples()).isEqualTo(2);
    assertThat(images.training().classes()).isEqualTo(6);
  }

  @Test
  void namesTheOffsetOfATruncatedIdxFile() throws Exception {
    byte[] whole = idxImages(3, 2, 4);
    Path labels = write("labels", idxLabels(0, 1, 2));
    for (int length = 0; length < whole.length; length++) {
      Path images = write("cut", Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> IdxDataset.read(images, labels))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("cut: truncated at offset " + length);
    }
  }

  @Test
  void refusesIdxHeadersThatLie() throws Exception {
    Path labels = write("labels", idxLabels(0, 1, 2));
    Path huge = write("huge", header(0x0803, 70_000, 30_000, 30_000));
    Path negative = write("negative", header(0x0803, -1, 28, 28));
    Path wrong = write("wrong", header(0x0d03, 3, 2, 4));
    Path large = write("large", header(0x0803, 60_000, 28, 28));
    Path longer = write("longer", Arrays.copyOf(idxImages(3, 2, 4), 16 + 24 + 1));

    assertThatThrownBy(() -> IdxDataset.read(huge, labels)).hasMessageContaining("2 GiB");
    assertThatThrownBy(() -> IdxDataset.read(negative, labels))
        .hasMessageContaining("negative: the number of images at offset 4");
    assertThatThrownBy(() -> IdxDataset.read(wrong, labels))
        .hasMessageContaining("0x00000d03")
        .hasMessageContaining("offset 0");
    assertThatThrownBy(() -> IdxDataset.read(large, labels)).hasMessageContaining("truncated");
    assertThatThrownBy(() -> IdxDataset.read(longer, labels))
        .hasMessageContaining("unexpected bytes from offset 40");
  }

  @Test
  void refusesLabelsThatDoNotMatchTheImages() throws Exception {
    Path images = write("images", idxImages(3, 2, 4));
    Path labels = write("labels", idxLabels(0, 1));

    assertThatThrownBy(() -> IdxDataset.read(images, labels))
        .hasMessageContaining("labels: the number of labels at offset 4 is 2")
        .hasMessageContaining("3 images");
  }

  @Test
  void namesAMissingFile() {
    assertThatThrownBy(() -> IdxDataset.readFolder(folder))
        .hasMessageContaining("train-images-idx3-ubyte");
    assertThatThrownBy(() -> IdxDataset.read(folder.resolve("nowhere"), folder))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("nowhere: cannot be read");
  }

  // CIFAR-10

  @Test
  void readsCifar10WithChannelsLast() throws Exception {
    byte[] record = new byte[2 * 3073];
    record[0] = 9;
    record[1] = (byte) 255; // red of the first pixel
    record[1 + 1024 + 1] = 51; // green of the second
    record[3073] = 3;
    record[3073 + 1 + 2048] = 102; // blue of the first
    ImageSet set = Cifar10Dataset.read(List.of(write("batch.bin", record)));

    assertThat(set.labels()).containsExactly(9, 3);
    assertThat(set.pixels()[0]).isEqualTo(1);
    assertThat(set.pixels()[4]).isCloseTo(0.2f, within(1e-6f));
    assertThat(set.pixels()[3072 + 2]).isCloseTo(0.4f, within(1e-6f));
  }

  @Test
  void namesTheRecordOfADamagedCifar10File() throws Exception {
    byte[] bytes = new byte[2 * 3073];
    bytes[3073] = 10;
    Path bad = write("bad.bin", bytes);
    Path cut = write("cut.bin", Arrays.copyOf(bytes, 3073 + 100));

    assertThatThrownBy(() -> Cifar10Dataset.read(List.of(bad)))
        .hasMessageContaining("bad.bin: record 1 at offset 3073 has label 10");
    assertThatThrownBy(() -> Cifar10Dataset.read(List.of(cut)))
        .hasMessageContaining("cut.bin")
        .hasMessageContaining("truncated in record 1");
    assertThatThrownBy(() -> Cifar10Dataset.readFolder(folder))
        .hasMessageContaining("data_batch_1.bin: cannot be read");
  }

  // CSV

  @Test
  void readsCsvWithLabelsOfText() throws Exception {
    LabelledImages images = csv("a,kind,b\n1,red,2\n3,blue,4\n5,red,6\n7,\"blue\",8\n", "kind", 2);

    assertThat(images.training().pixels()).containsExactly(1, 2, 5, 6);
    assertThat(images.training().labels()).containsExactly(1, 1);
    assertThat(images.heldOut().pixels()).containsExactly(3, 4, 7, 8);
    assertThat(images.heldOut().labels()).containsExactly(0, 0);
    assertThat(images.training().height()).isEqualTo(1);
    assertThat(images.training().width()).isEqualTo(2);
  }

  @Test
  void numbersCsvClassesInNumericOrderAndMakesSquares() throws Exception {
    LabelledImages images = csv("y,a,b,c,d\n10,1,2,3,4\n9,1,2,3,4\n010,1,2,3,4\n", "y", 3);

    assertThat(images.training().labels()).containsExactly(1, 0);
    assertThat(images.heldOut().labels()).containsExactly(1);
    assertThat(images.training().height()).isEqualTo(2);
    assertThat(images.training().classes()).isEqualTo(2);
  }

  @Test
  void namesTheRowAndFieldOfBadCsv() {
    assertThatThrownBy(() -> csv("a,y\n1,0\nx1,1\n", "y", 2))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("data.csv: row 2, field 'a' is not a finite number: 'x1'");
    assertThatThrownBy(() -> csv("a,y\n1,0\nNaN,1\n", "y", 2)).hasMessageContaining("'NaN'");
    assertThatThrownBy(() -> csv("a,y\n1,0\n2\n", "y", 2))
        .hasMessageContaining("row 2")
        .hasMessageContaining("1 fields but the header has 2");
    assertThatThrownBy(() -> csv("a,y\n1,0\n2,\n", "y", 2))
        .hasMessageContaining("row 2 has no label in 'y'");
    assertThatThrownBy(() -> csv("a,y\n1,0\n2,1\n", "label", 2))
        .hasMessageContaining("no column is called 'label'; the header has: a, y");
    assertThatThrownBy(() -> csv("a,y\n1,0\n2,0\n", "y", 2))
        .hasMessageContaining("column 'y' has 1 different labels");
    assertThatThrownBy(() -> csv("a,a\n1,0\n", "a", 2)).isInstanceOf(DataException.class);
    assertThatThrownBy(() -> csv("a,y\n1,0\n", "y", 2)).hasMessageContaining("too few");
    assertThatThrownBy(() -> csv("a,y\n\"1,0\n", "y", 2)).isInstanceOf(DataException.class);
  }

  // Text

  @Test
  void readsTextAndRefusesTooLittle() throws Exception {
    Path file = write("text.txt", new byte[1000]);

    assertThat(PlainTextDataset.read(file, 50).heldOut()).hasSize(100);
    assertThatThrownBy(() -> PlainTextDataset.read(file, 101))
        .hasMessageContaining("text.txt: 1000 bytes are too few");
    assertThatThrownBy(() -> PlainTextDataset.read(folder.resolve("none.txt"), 1))
        .hasMessageContaining("none.txt: cannot be read");
  }

  @Test
  void standardizesByTheTrainingPart() {
    ImageSet training = new ImageSet(1, 2, 1, 2, new float[] {1, 5, 3, 5}, new int[] {0, 1});
    ImageSet heldOut = new ImageSet(1, 2, 1, 2, new float[] {2, 9}, new int[] {0});
    LabelledImages images = new LabelledImages(training, heldOut);
    LabelledImages scaled = images.with(images.standard(true));

    assertThat(scaled.training().pixels()).containsExactly(-1, 0, 1, 0);
    assertThat(scaled.heldOut().pixels()).containsExactly(0, 0);
  }

  private LabelledImages csv(String text, String label, int holdOutEvery) throws Exception {
    return CsvDataset.read(Files.writeString(folder.resolve("data.csv"), text), label, holdOutEvery)
        .images();
  }

  private Path write(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }

  private static byte[] header(int... values) {
    ByteBuffer buffer = ByteBuffer.allocate(4 * values.length);
    for (int value : values) {
      buffer.putInt(value);
    }
    return buffer.array();
  }

  private static byte[] idxImages(int count, int height, int width) {
    ByteBuffer buffer = ByteBuffer.allocate(16 + count * height * width);
    buffer.put(header(0x0803, count, height, width));
    for (int i = 0; buffer.hasRemaining(); i++) {
      buffer.put((byte) (10 * i));
    }
    return buffer.array();
  }

  private static byte[] idxLabels(int... labels) {
    ByteBuffer buffer = ByteBuffer.allocate(8 + labels.length);
    buffer.put(header(0x0801, labels.length));
    for (int label : labels) {
      buffer.put((byte) label);
    }
    return buffer.array();
  }

  private static byte[] zip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }
}
