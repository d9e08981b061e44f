package dev.kastor.operator.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BoundedSeriesTest {
  @Test
  void keepsEveryPointUntilFull() {
    BoundedSeries<Integer> series = filled(10, 9);

    assertThat(series.points()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8);
  }

  @Test
  void halvesWhenFullAndKeepsFirstAndLast() {
    assertThat(filled(8, 8).points()).containsExactly(0, 2, 4, 6, 7);
    assertThat(filled(8, 11).points()).containsExactly(0, 2, 4, 6, 8, 10);
  }

  @Tag("slow")
  @Test
  void neverOutgrowsItsBoundAndStaysEvenlySpaced() {
    for (int arrivals = 1; arrivals <= 5000; arrivals++) {
      List<Integer> points = filled(50, arrivals).points();

      assertThat(points).hasSizeLessThanOrEqualTo(50).isSorted().doesNotHaveDuplicates();
      assertThat(points.getFirst()).isZero();
      assertThat(points.getLast()).isEqualTo(arrivals - 1);
      if (arrivals >= 50) {
        assertThat(points).hasSizeGreaterThanOrEqualTo(25);
      }
      int stride = points.size() > 1 ? points.get(1) : 1;
      for (int i = 0; i < points.size() - 1; i++) {
        assertThat(points.get(i)).isEqualTo(i * stride);
      }
    }
  }

  @Test
  void aLowerBoundThinsOutWhatIsThereAndAHigherOneChangesNothing() {
    for (int arrivals = 1; arrivals <= 500; arrivals++) {
      BoundedSeries<Integer> series = filled(100, arrivals);
      series.bound(10);
      series.bound(60);
      List<Integer> points = series.points();
      assertThat(points).hasSizeLessThanOrEqualTo(10).isSorted().doesNotHaveDuplicates();
      assertThat(points.getFirst()).isZero();
      assertThat(points.getLast()).isEqualTo(arrivals - 1);
      // As if it had been so from the beginning.
      assertThat(points).isEqualTo(filled(10, arrivals).points());
    }
  }

  @Test
  void isEmptyBeforeTheFirstPoint() {
    assertThat(new BoundedSeries<String>(4).points()).isEmpty();
  }

  @Test
  void refusesABoundTooSmallToHalve() {
    assertThatThrownBy(() -> new BoundedSeries<String>(3)).hasMessageContaining("at least 4");
  }

  private static BoundedSeries<Integer> filled(int capacity, int arrivals) {
    BoundedSeries<Integer> series = new BoundedSeries<>(capacity);
    IntStream.range(0, arrivals).forEach(series::add);
    return series;
  }
}
