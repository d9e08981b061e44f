package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.data.CategoryTable.Rules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CategoryTableTest {
  @TempDir Path folder;

  private CategoryTable read(String csv, int buckets, List<List<String>> pairs)
      throws IOException, DataException {
    Path file = Files.writeString(folder.resolve("t.csv"), csv);
    return CategoryTable.read(file, "bought", 3, _ -> new Rules(buckets, 5, pairs));
  }

  @Test
  void eachColumnAndPairHasTokensOfItsOwn() throws Exception {
    CategoryTable table =
        read(
            """
            city,bought,device
            Oslo,no,phone
            Rome,yes,phone
            Oslo,no,
            Oslo,yes,phone
            """,
            4,
            List.of(List.of("city", "device")));
    assertThat(table.columns()).isEqualTo(2);
    assertThat(table.columnTokens()).isEqualTo(8);
    assertThat(table.tokens()).isEqualTo(13);
    assertThat(table.classes()).isEqualTo(2);
    int[] tokens = table.training().tokens();
    // Rows 1, 2 and 4; the third is held out.
    assertThat(table.training().labels()).containsExactly(0, 1, 1);
    assertThat(new int[] {tokens[0], tokens[1]}).containsExactly(0, 4);
    assertThat(new int[] {tokens[3], tokens[4]}).containsExactly(1, 4);
    assertThat(tokens[2]).isBetween(8, 12).isEqualTo(tokens[8]).isNotEqualTo(tokens[5]);
    assertThat(table.heldOut().labels()).containsExactly(0);
    assertThat(Arrays.copyOf(table.heldOut().tokens(), 2))
        .as("an empty field is a category")
        .containsExactly(0, 5);
  }

  @Test
  void whatSpreadsheetsWriteIsReadAlike() throws Exception {
    String csv = "city,bought\nOslo,no\n\"Rome\",yes\nOslo,no\nOslo,yes\n";
    int[] tokens = read(csv, 4, List.of()).training().tokens();
    for (String other :
        List.of(
            "\uFEFF" + csv,
            csv.replace(',', ';'),
            "\uFEFF" + csv.replace(',', '\t').replace("\n", "\r\n"))) {
      assertThat(read(other, 4, List.of()).training().tokens()).isEqualTo(tokens);
    }
    assertThat(read("\"a,b\";bought\nx;no\ny;yes\nx;no\n", 4, List.of()).columns()).isEqualTo(1);
  }

  @Test
  void manyNumbersFallIntoRangesOfEquallyManyRows() throws Exception {
    StringBuilder csv = new StringBuilder("income,bought\n");
    // Held out are multiples of 3; ranges are those of the other 60.
    IntStream.rangeClosed(1, 90).forEach(i -> csv.append("%d,%s\n".formatted(i * i, i % 2)));
    CategoryTable table = read(csv.toString(), 4, List.of());
    int[] counts = new int[4];
    Arrays.stream(table.training().tokens()).forEach(token -> counts[token]++);
    assertThat(counts).containsExactly(15, 15, 15, 15);
    assertThat(table.training().tokens()).isSorted();
    assertThat(table.heldOut().tokens()).isSorted().startsWith(0).endsWith(3);
  }

  @Test
  void amongNumbersAnEmptyFieldIsACategoryToo() throws Exception {
    StringBuilder csv = new StringBuilder("income,bought\n");
    IntStream.rangeClosed(1, 90)
        .forEach(i -> csv.append("%s,%s\n".formatted(i % 10 == 1 ? "" : "" + i, i % 2)));
    CategoryTable table = read(csv.toString(), 4, List.of());
    int[] counts = new int[4];
    Arrays.stream(table.training().tokens()).forEach(token -> counts[token]++);
    // Of the 60 rows 6 are empty; three ranges share the rest.
    assertThat(counts).containsExactly(6, 18, 18, 18);
  }

  @Test
  void manyTextsAreHashed() throws Exception {
    StringBuilder csv = new StringBuilder("name,bought\n");
    IntStream.range(0, 400).forEach(i -> csv.append("n%d,%d\n".formatted(i % 100, i % 2)));
    CategoryTable table = read(csv.toString(), 16, List.of());
    assertThat(Arrays.stream(table.training().tokens()).distinct().count()).isBetween(12L, 16L);
    assertThat(read(csv.toString(), 16, List.of()).training().tokens())
        .isEqualTo(table.training().tokens());
  }

  @Test
  void saysWhatIsWrong() {
    assertThatThrownBy(() -> read("a,bought\n1,2\n1,3\n2,2\n", 4, List.of(List.of("a", "b"))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("t.csv")
        .hasMessageContaining("no column 'b' to pair; the header has: a");
    assertThatThrownBy(() -> read("a,bought\n1,2\n1\n", 4, List.of()))
        .hasMessageContaining("row 2 (line 3) has 1 fields but the header has 2");
    assertThatThrownBy(() -> read("a,bought\n1,2\n1,3\n2,2\n", 1 << 25, List.of()))
        .hasMessageContaining("1 columns and 0 pairs make 33554432 tokens");
  }
}
