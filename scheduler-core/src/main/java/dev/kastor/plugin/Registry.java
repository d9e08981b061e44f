package dev.kastor.plugin;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Plug-ins of one kind by name: the built-in ones, then those that a class loader offers.
 * Immutable.
 *
 * @param <P> kind of plug-in
 */
public final class Registry<P extends Plugin> {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

  private final String kind;
  private final SequencedMap<String, P> byName;

  private Registry(String kind, List<P> plugins) {
    this.kind = kind;
    byName = new LinkedHashMap<>();
    for (P plugin : plugins) {
      check(plugin);
      P other = byName.putIfAbsent(plugin.name(), plugin);
      if (other != null) {
        throw new IllegalArgumentException(
            "two classes are %s '%s': %s and %s. Rename one or take its jar away."
                .formatted(
                    kind, plugin.name(), other.getClass().getName(), plugin.getClass().getName()));
      }
    }
  }

  /**
   * A registry of these alone.
   *
   * @param kind what each of them is, such as {@code policy}, for messages
   * @throws IllegalArgumentException if a name stands for two, or a description is missing
   */
  public static <P extends Plugin> Registry<P> of(String kind, List<P> builtIn) {
    return new Registry<>(kind, builtIn);
  }

  /**
   * The same and what the services of a class loader name.
   *
   * @param type kind of plug-in
   * @throws IllegalArgumentException if a class cannot be loaded, or a name stands for two; the
   *     message names it
   */
  public Registry<P> with(Class<P> type, ClassLoader jars) {
    List<P> all = new ArrayList<>(byName.values());
    try {
      Iterator<P> found = ServiceLoader.load(type, jars).iterator();
      while (found.hasNext()) {
        all.add(found.next());
      }
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new IllegalArgumentException(
          "a %s cannot be loaded: %s"
              .formatted(kind, e.getCause() == null ? e.getMessage() : e + ": " + e.getCause()),
          e);
    }
    return new Registry<>(kind, all);
  }

  private void check(P plugin) {
    if (!NAME.matcher(plugin.name()).matches()) {
      throw new IllegalArgumentException(
          "the name of %s '%s' (%s) must begin with a letter or digit and hold letters, digits, dots, dashes and underscores only"
              .formatted(kind, plugin.name(), plugin.getClass().getName()));
    }
    if (plugin.description().isBlank()) {
      throw new IllegalArgumentException("%s %s has no description".formatted(kind, plugin.name()));
    }
    Set<String> names = new HashSet<>();
    for (Option<?> option : plugin.options()) {
      if (!names.add(option.name())) {
        throw new IllegalArgumentException(
            "%s %s has two options %s".formatted(kind, plugin.name(), option.name()));
      }
    }
  }

  /** All, the built-in ones first. */
  public List<P> all() {
    return List.copyOf(byName.values());
  }

  /** Names of all, in the same order. */
  public List<String> names() {
    return List.copyOf(byName.keySet());
  }

  /**
   * The plug-in of a name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all names
   */
  public P get(String name) {
    P plugin = byName.get(name);
    if (plugin == null && byName.isEmpty()) {
      throw new IllegalArgumentException(
          "there is no %s '%s', and no other one.".formatted(kind, name));
    }
    if (plugin == null) {
      throw new IllegalArgumentException(
          "there is no %s '%s'. Use one of: %s%s"
              .formatted(
                  kind,
                  name,
                  String.join(", ", byName.keySet()),
                  Nearest.question(name, byName.keySet())));
    }
    return plugin;
  }

  /**
   * What a text such as {@code kastor:hold=1000} chooses.
   *
   * @throws IllegalArgumentException if the text has another form, the plug-in or an option is
   *     unknown, or a value is not valid; the message says what is
   */
  public Chosen<P> choose(String text) {
    return choose(Selection.parse(text));
  }

  /**
   * What a selection chooses.
   *
   * @throws IllegalArgumentException if the plug-in or an option is unknown, or a value is not
   *     valid; the message says what is
   */
  public Chosen<P> choose(Selection selection) {
    P plugin = get(selection.name());
    return new Chosen<>(plugin, Options.parse(kind, plugin, selection.values()));
  }
}
