package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.data.ImageFolder.Colours;
import dev.kastor.engine.data.ImageFolder.Rules;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.Random;
import javax.imageio.ImageIO;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageFolderTest {
  private static final Rules AS_THEY_ARE = new Rules(10, 0, Colours.AUTO);

  @TempDir Path folder;
  @TempDir Path other;

  @BeforeAll
  static void withoutAScreen() {
    System.setProperty("java.awt.headless", "true");
  }

  private static byte[] image(String format, int type, int width, int height, int rgb)
      throws IOException {
    BufferedImage image = new BufferedImage(width, height, type);
    for (int i = 0; i < width * height; i++) {
      image.setRGB(i % width, i / width, rgb);
    }
    return bytes(format, image);
  }

  private static byte[] bytes(String format, BufferedImage image) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    assertThat(ImageIO.write(image, format, bytes)).isTrue();
    return bytes.toByteArray();
  }

  private static byte[] grey(int width, int height, int value) throws IOException {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_GRAY);
    for (int i = 0; i < width * height; i++) {
      image.getRaster().setSample(i % width, i / width, 0, value);
    }
    return bytes("png", image);
  }

  private static byte[] noise(String format, int side) throws IOException {
    Random random = new Random(1);
    BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
    for (int i = 0; i < side * side; i++) {
      image.setRGB(i % side, i / side, random.nextInt(1 << 24));
    }
    return bytes(format, image);
  }

  private Path write(String name, byte[] bytes) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.write(file, bytes);
  }

  /** Cats of value 10 i and dogs of value 10 i + 5, greys of 4x4. */
  private void animals(String part, int each) throws IOException {
    for (int i = 0; i < each; i++) {
      write("%scat/%02d.png".formatted(part, i), grey(4, 4, 10 * i));
      write("%sdog/%02d.png".formatted(part, i), grey(4, 4, 10 * i + 5));
    }
  }

  private static int[] firstPixels(ByteImages images) {
    int[] first = new int[images.examples()];
    for (int i = 0; i < first.length; i++) {
      first[i] = images.pixels()[i * images.shape().features()] & 0xff;
    }
    return first;
  }

  private ImageFolder read(Rules rules) throws DataException {
    return ImageFolder.read(folder, rules);
  }

  private void refused(ThrowingCallable call, String... words) {
    assertThatThrownBy(call).isInstanceOf(DataException.class).hasMessageContainingAll(words);
  }

  @Test
  void classesAreFoldersInOrderOfTheirNames() throws Exception {
    animals("train/", 3);
    animals("test/", 1);
    write("train/.DS_Store", new byte[3]);
    write("train/cat/Thumbs.db", new byte[3]);
    write("train/cat/._00.png", new byte[3]);
    ImageFolder images = read(AS_THEY_ARE);
    assertThat(images.training().shape()).isEqualTo(new ImageShape(4, 4, 1, 2));
    assertThat(images.training().labels()).containsExactly(0, 0, 0, 1, 1, 1);
    assertThat(firstPixels(images.training())).containsExactly(0, 10, 20, 5, 15, 25);
    assertThat(images.heldOut().labels()).containsExactly(0, 1);
    assertThat(ImageFolder.glance(folder, AS_THEY_ARE))
        .isEqualTo(new Glance(images.training().shape(), OptionalLong.of(6)));
  }

  @Test
  void withoutAFolderOfThemEverySoManyOfEachClassAreHeldOut() throws Exception {
    animals("", 7);
    ImageFolder images = read(new Rules(3, 0, Colours.AUTO));
    assertThat(firstPixels(images.heldOut())).containsExactly(20, 50, 25, 55);
    assertThat(images.training().examples()).isEqualTo(10);
    assertThat(read(new Rules(3, 0, Colours.AUTO)).heldOut().pixels())
        .isEqualTo(images.heldOut().pixels());
    refused(() -> read(new Rules(8, 0, Colours.AUTO)), "no class has 8 images", "holdOutEvery");
  }

  @Test
  void pixelsHaveMeanZeroAndDeviationOne() throws Exception {
    animals("", 10);
    ByteImages training = read(AS_THEY_ARE).training();
    int[] all = new int[training.examples()];
    Arrays.setAll(all, i -> i);
    float[] features = new float[all.length * 16];
    training.gather(all, features, new int[all.length]);
    double sum = 0;
    double squares = 0;
    for (float feature : features) {
      sum += feature;
      squares += feature * feature;
    }
    assertThat(sum / features.length).isBetween(-1e-5, 1e-5);
    assertThat(squares / features.length).isBetween(1 - 1e-5, 1 + 1e-5);
  }

  @Test
  void valuesAreThoseOfTheFileWhateverItsColours() throws Exception {
    int rgb = 0x0a64c8;
    write("a/0.png", image("png", BufferedImage.TYPE_INT_RGB, 2, 2, rgb));
    write("a/1.png", image("png", BufferedImage.TYPE_INT_ARGB, 2, 2, 0xff000000 | rgb));
    write("a/2.png", grey(2, 2, 128));
    write("a/3.JPG", image("jpeg", BufferedImage.TYPE_INT_RGB, 2, 2, 0x808080));
    BufferedImage deep = new BufferedImage(2, 2, BufferedImage.TYPE_USHORT_GRAY);
    for (int i = 0; i < 4; i++) {
      deep.getRaster().setSample(i % 2, i / 2, 0, 128 << 8 | 7);
    }
    write("a/4.png", bytes("png", deep));
    write("a/5.png", image("png", BufferedImage.TYPE_BYTE_INDEXED, 2, 2, 0xff0000));
    write("a/6.png", image("png", BufferedImage.TYPE_BYTE_BINARY, 2, 2, 0xffffff));
    write("b/0.png", grey(2, 2, 3));
    write("b/1.png", grey(2, 2, 3));

    ImageFolder colours = read(new Rules(2, 0, Colours.AUTO));
    assertThat(colours.training().shape().channels()).isEqualTo(3);
    byte[] pixels = colours.training().pixels();
    assertThat(Arrays.copyOf(pixels, 3)).containsExactly(10, 100, 200);
    assertThat(Arrays.copyOfRange(pixels, 12, 15)).containsExactly(128, 128, 128);
    assertThat(Arrays.copyOfRange(pixels, 24, 27)).containsExactly(128, 128, 128);
    assertThat(Arrays.copyOfRange(pixels, 36, 39)).containsExactly(255, 255, 255);
    byte[] heldOut = colours.heldOut().pixels();
    assertThat(Arrays.copyOf(heldOut, 3)).containsExactly(10, 100, 200);
    assertThat(Arrays.copyOfRange(heldOut, 24, 27)).containsExactly(255, 0, 0);

    byte[] luma = read(new Rules(2, 0, Colours.GREY)).training().pixels();
    assertThat(luma[0] & 0xff).isEqualTo(Math.round(0.299f * 10 + 0.587f * 100 + 0.114f * 200));
  }

  @Test
  void otherSizesAreRefusedByNameUnlessASideIsGiven() throws Exception {
    animals("", 10);
    Path larger = write("dog/03.png", grey(6, 5, 9));
    refused(() -> read(AS_THEY_ARE), larger.toString(), "is 6x5 pixels", "is 4x4", "side: \"4\"");
    Path first = write("dog/00.png", grey(6, 5, 9));
    refused(() -> ImageFolder.glance(folder, AS_THEY_ARE), first.toString(), "6x5");

    ImageFolder resized = read(new Rules(10, 3, Colours.AUTO));
    assertThat(resized.training().shape()).isEqualTo(new ImageShape(3, 3, 1, 2));
    assertThat(firstPixels(resized.training())[3]).isEqualTo(30);
  }

  @Test
  void aSmallerImageIsTheMeanOfWhatEachPixelCoversOfTheMiddle() {
    byte[] values = {9, 0, 10, 20, 30, 9, 9, 40, 50, 60, 70, 9, 9, 0, 0, 0, 0, 9, 9, 4, 4, 4, 4, 9};
    ImageFile wide = new ImageFile(4, 6, 1, values);
    assertThat(wide.square(2).values()).containsExactly(25, 45, 2, 2);
    assertThat(wide.square(4).values()).startsWith(0, 10, 20, 30, 40);
    assertThat(wide.square(8).values()).startsWith(0, 0, 10, 10, 20, 20, 30, 30, 0, 0);
    assertThat(wide.square(1).values()).containsExactly(Math.round(296f / 16));
  }

  @Test
  void damagedImagesAreNamed() throws Exception {
    animals("", 10);
    byte[] png = noise("png", 4);
    byte[] jpeg = noise("jpeg", 64);
    for (byte[] damaged :
        new byte[][] {
          {},
          "not an image".getBytes(StandardCharsets.UTF_8),
          Arrays.copyOf(png, 20),
          Arrays.copyOf(png, png.length / 2),
          Arrays.copyOf(jpeg, 30),
          Arrays.copyOf(jpeg, jpeg.length / 2)
        }) {
      Path file = write("dog/05.png", damaged);
      refused(() -> read(new Rules(10, 4, Colours.AUTO)), file.toString());
    }
    byte[] bomb = grey(4, 4, 1);
    // Width and height of the header.
    System.arraycopy(new byte[] {0, 1, 0, 0, 0, 1, 0, 0}, 0, bomb, 16, 8);
    Path file = write("dog/05.png", bomb);
    refused(() -> read(new Rules(10, 4, Colours.AUTO)), file.toString(), "65536x65536 pixels");
  }

  @Tag("slow")
  @Test
  void aLargeImageIsMadeSmallWhileItIsDecoded() throws Exception {
    write("a/0.jpg", image("jpeg", BufferedImage.TYPE_INT_RGB, 4000, 3000, 0x804020));
    write("b/0.jpg", image("jpeg", BufferedImage.TYPE_INT_RGB, 16, 16, 0x804020));
    Path first = folder.resolve("a/0.jpg");
    assertThat(ImageFile.read(first, 16).height()).isBetween(16, 2000);
    assertThat(ImageFile.read(first, 16).square(16).values()).hasSize(16 * 16 * 3);
    refused(() -> ImageFile.read(first, 0), first.toString(), "4000x3000", "Set side");
  }

  @Test
  void linksAreFollowedAndThoseThatLeadNowhereAreNamed() throws Exception {
    animals("", 10);
    Path elsewhere = Files.write(other.resolve("x.png"), grey(4, 4, 77));
    Files.createSymbolicLink(folder.resolve("cat/zz.png"), elsewhere);
    Files.createSymbolicLink(folder.resolve("dog/more"), other);
    ImageFolder images = read(AS_THEY_ARE);
    assertThat(images.training().examples() + images.heldOut().examples()).isEqualTo(22);

    Path dangling = Files.createSymbolicLink(folder.resolve("cat/nn.png"), folder.resolve("no"));
    refused(() -> read(AS_THEY_ARE), dangling.toString(), "link to a file that is not there");
    Files.delete(dangling);
    Path loop = Files.createSymbolicLink(folder.resolve("cat/loop"), folder.resolve("cat"));
    refused(() -> read(AS_THEY_ARE), loop.toString(), "link to a folder that it is in");
  }

  @Test
  void oddNamesAreNames() throws Exception {
    for (String name : new String[] {"a b", "-x", "ünï", "新", "c\nd", "%s", "a'b\"c", "$(x)"}) {
      write(name + "/1.png", grey(2, 2, 1));
      write(name + "/" + name + ".PNG", grey(2, 2, 2));
    }
    ImageFolder images = read(new Rules(2, 0, Colours.AUTO));
    assertThat(images.training().examples()).isEqualTo(8);
    assertThat(images.training().shape().classes()).isEqualTo(8);
  }

  @Test
  void aPipeIsNotWaitedFor() throws Exception {
    animals("", 10);
    Path pipe = folder.resolve("cat/pipe.png");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    refused(() -> read(AS_THEY_ARE), pipe.toString(), "no regular file");
  }

  @Test
  void otherLayoutsAreAnsweredWithTheOneThatIsRead() throws Exception {
    refused(() -> read(AS_THEY_ARE), "0 folders of classes", "train/CLASS/NAME.png");
    Path loose = write("1.png", grey(2, 2, 1));
    refused(() -> read(AS_THEY_ARE), loose.toString(), "in no folder of a class");
    Files.delete(loose);
    animals("test/", 1);
    refused(() -> read(AS_THEY_ARE), "folder test but no folder train");
    animals("train/", 1);
    write("test/fox/1.png", grey(4, 4, 1));
    refused(() -> read(AS_THEY_ARE), "fox", "is a class that", "does not have");
    Files.delete(folder.resolve("test/fox/1.png"));
    Files.delete(folder.resolve("test/fox"));
    Path webp = write("train/cat/2.webp", new byte[10]);
    refused(() -> read(AS_THEY_ARE), webp.toString(), "Make it PNG or JPEG");
    Files.delete(webp);
    Path empty = Files.createDirectory(folder.resolve("train/eel"));
    refused(() -> read(AS_THEY_ARE), empty.toString(), "has no image");
    refused(() -> ImageFolder.read(folder.resolve("no"), AS_THEY_ARE), "there is no such file");
  }

  @Test
  void whatDoesNotFitIsRefusedWithWhatItNeedsAndWhatFits() throws Exception {
    animals("", 10);
    ImageFiles files = ImageFiles.list(folder, 10, Integer.MAX_VALUE);
    ImageShape large = new ImageShape(1024, 1024, 3, 2);
    refused(
        () -> ImageFolder.checkMemory(folder, files, large, 20 << 20),
        "20 images of 1024x1024 in 3 colours need 60 MiB of memory",
        "20 MiB can be had",
        "at most side 591 fits");
    ImageFolder.checkMemory(folder, files, new ImageShape(591, 591, 3, 2), 20 << 20);
    ImageFolder.checkMemory(folder, files, large, 60 << 20);
  }

  @Tag("slow")
  @Test
  void ofManyFilesAGlanceCountsNone() throws Exception {
    byte[] image = grey(2, 2, 1);
    for (int i = 0; i < 2_100; i++) {
      write("a/%d.png".formatted(i), image);
    }
    write("b/0.png", image);
    assertThat(ImageFolder.glance(folder, AS_THEY_ARE).mostExamples()).isEmpty();
  }
}
