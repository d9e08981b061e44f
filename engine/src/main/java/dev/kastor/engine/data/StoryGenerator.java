package dev.kastor.engine.data;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Writes short stories from a small grammar: the text that Kastor ships for its language model.
 *
 * <p>A story keeps its hero, companion, thing and places throughout, so that there is more to learn
 * than which letter follows which. Equal seeds give equal text.
 */
public final class StoryGenerator {
  private record Person(String name, String subject, String object, String possessive) {}

  private static final List<Person> PEOPLE =
      List.of(
          she("Amira"),
          she("Berta"),
          she("Clara"),
          she("Edda"),
          she("Ilse"),
          she("Joana"),
          she("Marit"),
          she("Nora"),
          she("Rosa"),
          she("Tilda"),
          he("Anton"),
          he("Bruno"),
          he("Emil"),
          he("Hamid"),
          he("Jonas"),
          he("Kofi"),
          he("Lars"),
          he("Oskar"),
          he("Piet"),
          he("Theo"));
  private static final List<String> TRADES =
      List.of(
          "baker",
          "weaver",
          "beekeeper",
          "ferryman",
          "clockmaker",
          "gardener",
          "potter",
          "carpenter",
          "lamplighter",
          "bookbinder",
          "shepherd",
          "glassblower");
  private static final List<String> PLACES =
      List.of(
          "the mill",
          "the old bridge",
          "the harbour",
          "the market",
          "the lighthouse",
          "the edge of the forest",
          "the upper meadow",
          "the quarry",
          "the chapel",
          "the inn",
          "the river bend",
          "the north gate");
  private static final List<String> THINGS =
      List.of(
          "silver key",
          "wooden flute",
          "blue lantern",
          "copper kettle",
          "folded map",
          "red scarf",
          "small brass bell",
          "honey jar",
          "broken compass",
          "letter",
          "pear basket",
          "painted box");
  private static final List<String> WEATHER =
      List.of(
          "It was raining",
          "The wind had turned",
          "The morning was clear",
          "Fog lay on the fields",
          "Snow had fallen in the night",
          "The sun was low",
          "It was a warm evening",
          "A storm was coming");
  private static final List<String> MOODS =
      List.of("tired", "glad", "curious", "worried", "proud", "hungry", "quiet", "hopeful");
  private static final List<String> ANIMALS =
      List.of("goat", "grey cat", "heron", "pony", "young fox", "sheepdog", "raven", "hedgehog");

  private final SplittableRandom random;

  /** A generator at the beginning of its text. */
  public StoryGenerator(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** At least so many characters of ASCII, ending with a whole story. */
  public String write(int characters) {
    StringBuilder text = new StringBuilder(characters + 2000);
    while (text.length() < characters) {
      writeStory(text);
    }
    return text.toString();
  }

  private void writeStory(StringBuilder text) {
    Person hero = pick(PEOPLE);
    Person friend = pickOther(PEOPLE, hero);
    String trade = pick(TRADES);
    String thing = pick(THINGS);
    String home = pick(PLACES);
    String goal = pickOther(PLACES, home);
    say(text, hero.name, " was a ", trade, " and lived near ", home, ".");
    say(text, pick(WEATHER), " when ", hero.subject, " found ", article(thing), " by the door.");
    say(
        text,
        pickFrom(
            "Nobody knew",
            "No note said",
            "It was a riddle",
            "Not even " + friend.name + " could tell"),
        " whose ",
        thing,
        " it was.");
    int scenes = 1 + random.nextInt(3);
    String at = home;
    for (int i = 0; i < scenes; i++) {
      String next = i == scenes - 1 ? goal : pickOther(PLACES, at);
      at = next.equals(at) ? goal : next;
      writeScene(text, hero, friend, thing, at);
    }
    writeEnd(text, hero, friend, trade, thing);
  }

  private void writeScene(
      StringBuilder text, Person hero, Person friend, String thing, String place) {
    String mood = pick(MOODS);
    say(
        text,
        "So ",
        hero.name,
        pickFrom(" walked to ", " went to ", " hurried to ", " rode to "),
        place,
        " and took the ",
        thing,
        " along.");
    switch (random.nextInt(4)) {
      case 0 -> {
        String animal = pick(ANIMALS);
        say(
            text,
            "There ",
            hero.subject,
            " met ",
            article(animal),
            ", and the ",
            animal,
            " followed ",
            hero.object,
            " all the way.");
        say(text, hero.name, " gave the ", animal, " some bread and felt less ", mood, ".");
      }
      case 1 -> {
        say(text, "\"Have you seen the owner of this ", thing, "?\" ", hero.subject, " asked.");
        say(
            text,
            "\"Ask ",
            friend.name,
            ",\" said the ",
            pick(TRADES),
            ", \"",
            friend.subject,
            " knows every ",
            lastWord(thing),
            " in the valley.\"");
      }
      case 2 -> {
        say(text, pick(WEATHER), ", and ", place, " was empty.");
        say(
            text,
            hero.name,
            " waited until dusk and was ",
            mood,
            ", for ",
            hero.subject,
            " had promised to be back before night.");
      }
      default -> {
        int count = 2 + random.nextInt(7);
        say(
            text,
            hero.name,
            " counted ",
            number(count),
            " boats and ",
            number(count + 1),
            " carts, but none of them had lost a ",
            lastWord(thing),
            ".");
        say(text, "That made ", hero.object, " ", mood, ".");
      }
    }
  }

  private void writeEnd(
      StringBuilder text, Person hero, Person friend, String trade, String thing) {
    say(text, "In the end it was ", friend.name, " who came up the road and laughed.");
    say(
        text,
        "\"That ",
        thing,
        " is mine,\" said ",
        friend.name,
        ", \"and I left it for the ",
        trade,
        ", because ",
        pickFrom(
            "you helped me in the winter",
            "you never ask for anything",
            "today is your birthday",
            "a gift should be a surprise"),
        ".\"");
    say(
        text,
        hero.name,
        " thanked ",
        friend.object,
        ", and ",
        friend.name,
        " stayed for supper at ",
        hero.possessive,
        " table.");
    text.setCharAt(text.length() - 1, '\n');
    text.append('\n');
  }

  private static void say(StringBuilder text, String... parts) {
    for (String part : parts) {
      text.append(part);
    }
    text.append(' ');
  }

  private static Person she(String name) {
    return new Person(name, "she", "her", "her");
  }

  private static Person he(String name) {
    return new Person(name, "he", "him", "his");
  }

  private static String article(String noun) {
    return ("aeiou".indexOf(noun.charAt(0)) >= 0 ? "an " : "a ") + noun;
  }

  private static String lastWord(String words) {
    return words.substring(words.lastIndexOf(' ') + 1);
  }

  private static String number(int value) {
    return List.of("two", "three", "four", "five", "six", "seven", "eight", "nine").get(value - 2);
  }

  private String pickFrom(String... choices) {
    return pick(List.of(choices));
  }

  private <T> T pick(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  private <T> T pickOther(List<T> choices, T but) {
    T choice = pick(choices);
    while (choice.equals(but)) {
      choice = pick(choices);
    }
    return choice;
  }
}
