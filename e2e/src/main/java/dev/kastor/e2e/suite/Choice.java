package dev.kastor.e2e.suite;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestTag;

/**
 * Choice of the steps of a run. What each gate runs is what has no tag {@link #NIGHTLY}; a scenario
 * that is named comes with all its steps.
 *
 * @param only regular expression of names of scenarios, such as {@code Training}; empty for all
 *     that each gate runs
 * @param also names of scenarios, separated by commas, that are added with all their steps
 * @param all whether all steps of all scenarios are run
 * @param gate whether of the scenarios that {@code only} names no steps but those of each gate are
 *     run
 */
record Choice(String only, String also, boolean all, boolean gate) {
  /** Tag of scenarios and steps that a gate leaves to nightly runs. */
  static final String NIGHTLY = "nightly";

  private static final Pattern SCENARIO = Pattern.compile("\\[class:([^]]*[.$](\\w+)Scenario)]");

  /** Choice that the options of {@code ./kastor e2e} made. */
  static Choice given(String only) {
    return new Choice(
        only,
        System.getProperty("kastor.e2e.also", ""),
        Boolean.getBoolean("kastor.e2e.all"),
        Boolean.getBoolean("kastor.e2e.gate"));
  }

  /** The name of the scenario that a test belongs to, such as {@code Training}. */
  static Optional<String> scenario(String uniqueId) {
    Matcher scenario = SCENARIO.matcher(uniqueId);
    return scenario.find() ? Optional.of(scenario.group(2)) : Optional.empty();
  }

  /** Whether a class, or a step of it with these tags, is to be run. */
  boolean takes(String className, Set<String> tags) {
    boolean chosen = only.isEmpty() || named(only, className);
    boolean whole = all || (!only.isEmpty() && !gate);
    return (chosen && (whole || !tags.contains(NIGHTLY))) || added(className);
  }

  FilterResult filter(TestDescriptor test) {
    Matcher scenario = SCENARIO.matcher(test.getUniqueId().toString());
    Set<String> tags =
        test.getTags().stream().map(TestTag::getName).collect(Collectors.toUnmodifiableSet());
    return FilterResult.includedIf(!scenario.find() || takes(scenario.group(1), tags));
  }

  private boolean added(String className) {
    return !also.isEmpty() && named("(" + also.replace(',', '|') + ")", className);
  }

  private static boolean named(String name, String className) {
    return className.matches(".*" + name + ".*");
  }
}
