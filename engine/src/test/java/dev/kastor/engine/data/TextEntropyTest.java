package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TextEntropyTest {
  @Test
  void isTheLogarithmOfEquallyLikelyBytes() {
    SplittableRandom random = new SplittableRandom(1);
    byte[] bytes = new byte[400_000];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt(16);
    }
    Text text = Text.split(bytes);

    assertThat(TextEntropy.unigramBits(text)).isCloseTo(4, within(0.01));
    assertThat(TextEntropy.bigramBits(text)).isCloseTo(4, within(0.01));
  }

  @Test
  void findsAMarkovChainsEntropy() {
    // From each of 4 states to the next with 3/4, else to any of the 4.
    SplittableRandom random = new SplittableRandom(2);
    byte[] bytes = new byte[400_000];
    for (int i = 1; i < bytes.length; i++) {
      boolean next = random.nextDouble() < 0.75;
      bytes[i] = (byte) (next ? (bytes[i - 1] + 1) % 4 : random.nextInt(4));
    }
    double likely = 0.75 + 0.25 / 4;
    double other = 0.25 / 4;
    double entropy = -(likely * Math.log(likely) + 3 * other * Math.log(other)) / Math.log(2);
    Text text = Text.split(bytes);

    assertThat(TextEntropy.unigramBits(text)).isCloseTo(2, within(0.01));
    assertThat(TextEntropy.bigramBits(text)).isCloseTo(entropy, within(0.01));
  }

  @Test
  void staysFiniteForBytesNeverSeen() {
    Text text = new Text(new byte[100], new byte[] {5, 6, 7});

    assertThat(TextEntropy.unigramBits(text)).isBetween(7.0, 10.0);
    assertThat(TextEntropy.bigramBits(text)).isBetween(7.0, 12.0);
  }
}
