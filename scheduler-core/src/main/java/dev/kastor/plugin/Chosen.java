package dev.kastor.plugin;

/**
 * Plug-in with the values of its options: what a user chose.
 *
 * <p>The text form is the shortest that chooses the same, such as {@code kastor:hold=1000}.
 *
 * @param <P> kind of plug-in
 * @param plugin the plug-in
 * @param options values of its options
 */
public record Chosen<P extends Plugin>(P plugin, Options options) {
  /** The plug-in's name. */
  public String name() {
    return plugin.name();
  }

  /** The same with another value of an option. */
  public <T> Chosen<P> with(Option<T> option, T value) {
    return new Chosen<>(plugin, options.with(option, value));
  }

  @Override
  public String toString() {
    return options.isUsual() ? name() : name() + ":" + options;
  }
}
