package dev.kastor.e2e.cluster;

import java.util.Optional;
import java.util.Properties;
import javax.naming.Context;
import javax.naming.NameNotFoundException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.DirContext;
import javax.naming.directory.InitialDirContext;

/** The cluster's DNS, asked as pods ask it. */
public final class Names {
  private static final String SERVER = "dns://10.250.0.1";
  private static final String SUFFIX = ".cluster.local.";

  private Names() {}

  /** The address of a name such as {@code a-0.a-gang.team.svc}; empty if there is none. */
  @SuppressWarnings("BanJNDI") // Only A records of our own server are asked for, no objects.
  public static Optional<String> address(String name) throws NamingException {
    Properties environment = new Properties();
    environment.setProperty(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
    environment.setProperty(Context.PROVIDER_URL, SERVER);
    DirContext dns = new InitialDirContext(environment);
    try {
      Attribute address = dns.getAttributes(name + SUFFIX, new String[] {"A"}).get("A");
      return address == null ? Optional.empty() : Optional.of(String.valueOf(address.get()));
    } catch (NameNotFoundException e) {
      return Optional.empty();
    } finally {
      dns.close();
    }
  }
}
