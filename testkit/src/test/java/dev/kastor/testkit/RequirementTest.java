package dev.kastor.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

final class RequirementTest {
  @Test
  void whatIsAbsentSkipsATestAndFailsItWhereItIsRequired() {
    Requirement.GCC.check(true, "no compiler", true);
    Requirement.GCC.check(true, "no compiler", false);
    assertEquals(
        "no compiler",
        assertThrows(
                TestAbortedException.class,
                () -> Requirement.GCC.check(false, "no compiler", false))
            .getMessage());
    assertEquals(
        "KASTOR_REQUIRE_GCC is true: no compiler",
        assertThrows(AssertionError.class, () -> Requirement.GCC.check(false, "no compiler", true))
            .getMessage());
  }
}
