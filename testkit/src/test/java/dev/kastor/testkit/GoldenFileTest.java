package dev.kastor.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GoldenFileTest {
  private static final String MARK = "<!-- Below is generated. -->";

  @TempDir Path folder;

  private GoldenFile golden(boolean writes, boolean gate) {
    return new GoldenFile(folder.resolve("new/file.txt"), writes, gate);
  }

  private String refusal(GoldenFile file, String text) {
    return String.valueOf(assertThrows(AssertionError.class, () -> file.holds(text)).getMessage());
  }

  @Test
  void comparesAndNamesTheFirstLineThatDiffers() throws IOException {
    golden(true, false).holds("a\nb\nc\n");
    golden(false, false).holds("a\nb\nc\n");
    golden(false, true).holds(List.of("a", "b", "c"));
    String refusal = refusal(golden(false, true), "a\nx\nc\n");
    assertTrue(refusal.contains("Line 2") && refusal.contains("'b'") && refusal.contains("'x'"));
    assertTrue(refusal.contains("-Dkastor.golden.write=true"), refusal);
    assertTrue(refusal(golden(false, false), "a\nb\nc").contains("the last end of line"));
  }

  @Test
  void anAbsentFileHoldsNothing() {
    assertTrue(refusal(golden(false, false), "").contains("absent"));
  }

  @Test
  void comparesBytes() throws IOException {
    golden(true, false).holds(new byte[] {1, 2, 3});
    golden(false, false).holds(new byte[] {1, 2, 3});
    GoldenFile file = golden(false, false);
    AssertionError refused =
        assertThrows(AssertionError.class, () -> file.holds(new byte[] {1, 2, 4}));
    assertTrue(String.valueOf(refused.getMessage()).contains("byte 2"), refused.getMessage());
  }

  @Test
  void keepsWhatIsAboveTheLine() throws IOException {
    golden(true, false).holds("By hand.\n" + MARK + "\nold\n");
    assertEquals("By hand.\n", golden(true, false).holdsBelow(MARK, "new\n"));
    assertEquals("By hand.\n" + MARK + "\nnew\n", Files.readString(folder.resolve("new/file.txt")));
    golden(false, false).holdsBelow(MARK, "new\n");
    GoldenFile file = golden(false, false);
    assertThrows(AssertionError.class, () -> file.holdsBelow(MARK, "old\n"));
    assertThrows(AssertionError.class, () -> file.holdsBelow("<!-- another -->", "new\n"));
  }

  @Tag("slow")
  @Test
  void theGateNeverWrites() throws IOException {
    golden(true, false).holds("a\n");
    assertTrue(refusal(golden(true, true), "a\n").contains("KASTOR_GATE"));
    assertTrue(refusal(golden(true, true), "b\n").contains("KASTOR_GATE"));
    assertEquals("a\n", Files.readString(folder.resolve("new/file.txt")));
  }
}
