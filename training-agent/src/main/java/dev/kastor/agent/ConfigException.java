package dev.kastor.agent;

import java.util.List;

/** The environment of the process is incomplete or wrong; every problem is named. */
public final class ConfigException extends Exception {
  private static final long serialVersionUID = 1;

  public ConfigException(List<String> problems) {
    super(String.join("; ", problems));
  }
}
