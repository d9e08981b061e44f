package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GlyphImagesTest {
  @Test
  void drawsTheSameForTheSameSeedHoweverMany() {
    LabelledImages few = new GlyphImages(1, 16, 1).draw(10, 5);
    LabelledImages many = new GlyphImages(1, 16, 1).draw(30, 20);
    LabelledImages other = new GlyphImages(2, 16, 1).draw(10, 5);

    assertThat(many.training().slice(0, 10).pixels()).isEqualTo(few.training().pixels());
    assertThat(many.heldOut().slice(0, 5).labels()).isEqualTo(few.heldOut().labels());
    assertThat(other.training().pixels()).isNotEqualTo(few.training().pixels());
  }

  @Test
  void sharesNoImageBetweenTheParts() {
    LabelledImages images = new GlyphImages(3, 16, 1).draw(2000, 500);
    Set<Integer> training = new HashSet<>();
    for (int i = 0; i < 2000; i++) {
      training.add(Arrays.hashCode(images.training().slice(i, i + 1).pixels()));
    }
    assertThat(training).hasSize(2000);
    for (int i = 0; i < 500; i++) {
      assertThat(training)
          .doesNotContain(Arrays.hashCode(images.heldOut().slice(i, i + 1).pixels()));
    }
  }

  @Test
  void usesEveryClassAboutEquallyOften() {
    ImageSet images = new GlyphImages(4, 16, 1).draw(6000, 1).training();
    int[] counts = new int[images.classes()];
    for (int label : images.labels()) {
      counts[label]++;
    }
    assertThat(GlyphImages.classes()).isEqualTo(12);
    for (int count : counts) {
      assertThat(count).isBetween(400, 600);
    }
  }

  @Test
  void givesTheClassesDifferentShapes() {
    // Without variation, images of a class agree and those of different classes do not.
    ImageSet clean = new GlyphImages(5, 16, 0).draw(200, 1).training();
    for (int i = 0; i < 200; i++) {
      for (int j = 0; j < i; j++) {
        double distance = 0;
        for (int k = 0; k < 256; k++) {
          double d = clean.pixels()[i * 256 + k] - clean.pixels()[j * 256 + k];
          distance += d * d;
        }
        if (clean.labels()[i] == clean.labels()[j]) {
          assertThat(distance).isZero();
        } else {
          assertThat(distance).isGreaterThan(5);
        }
      }
    }
  }

  @Test
  void refusesSizesItCannotDraw() {
    assertThatThrownBy(() -> new GlyphImages(1, 4, 1)).hasMessageContaining("side");
    assertThatThrownBy(() -> new GlyphImages(1, 16, -1)).hasMessageContaining("difficulty");
  }
}
