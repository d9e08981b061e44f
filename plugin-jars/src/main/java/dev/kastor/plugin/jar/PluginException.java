package dev.kastor.plugin.jar;

/** Failure to use the plug-ins of a folder; the message names the folder and what is wrong. */
public final class PluginException extends Exception {
  private static final long serialVersionUID = 1;

  PluginException(String message, Throwable cause) {
    super(message, cause);
  }
}
