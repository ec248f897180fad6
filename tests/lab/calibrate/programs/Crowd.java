import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Many members of one group in one JVM, a thread each, on Java's client.
 *
 * <p>Flags in; `start NAME` and `stop NAME` on standard input; out, a line for everything that
 * happens to a member: nanoseconds of the monotonic clock, its name, what, partition numbers. The
 * clock is that of every process of the machine. The end of the input ends the program.
 */
public class Crowd {
  private static final String CLIENT = "org.apache.kafka.clients.consumer.";
  private static final Map<String, String> ASSIGNORS =
      Map.of(
          "range", CLIENT + "RangeAssignor",
          "cooperative-sticky", CLIENT + "CooperativeStickyAssignor");

  private final Map<String, String> flags = new HashMap<>();
  private final Map<String, Member> members = new HashMap<>();

  public static void main(String[] arguments) throws IOException {
    Crowd crowd = new Crowd();
    for (int at = 0; at + 1 < arguments.length; at += 2) {
      crowd.flags.put(arguments[at].substring(2), arguments[at + 1]);
    }
    write("", "ready", List.of());
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        if (words[0].equals("start")) {
          Member member = crowd.new Member(words[1]);
          crowd.members.put(words[1], member);
          member.start();
        } else {
          crowd.members.remove(words[1]).isStopped = true;
        }
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private Properties properties(String name) {
    Properties all = new Properties();
    all.put("bootstrap.servers", flags.get("bootstrap"));
    all.put("group.id", flags.get("group"));
    all.put("client.id", name);
    all.put("key.deserializer", ByteArrayDeserializer.class.getName());
    all.put("value.deserializer", ByteArrayDeserializer.class.getName());
    all.put("enable.auto.commit", "false");
    all.put("auto.offset.reset", "latest");
    all.put("fetch.max.wait.ms", flags.get("fetch-wait-ms"));
    if (flags.get("protocol").equals("consumer")) {
      all.put("group.protocol", "consumer");
    } else {
      all.put("partition.assignment.strategy", ASSIGNORS.get(flags.get("assignor")));
      all.put("heartbeat.interval.ms", flags.get("heartbeat-ms"));
    }
    return all;
  }

  /** One consumer, from its constructor to the end of its close(). */
  private final class Member extends Thread implements ConsumerRebalanceListener {
    private volatile boolean isStopped = false;

    Member(String name) {
      super(name);
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        write(getName(), "starting", List.of());
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(getName()))) {
          consumer.subscribe(List.of(flags.get("topic")), this);
          while (!isStopped) {
            // As long as records take now and then: polls at even times would fall in step with
            // heartbeats, whose interval is a multiple of theirs.
            consumer.poll(Duration.ofMillis(ThreadLocalRandom.current().nextInt(50, 151)));
          }
          write(getName(), "closing", List.of());
        }
        write(getName(), "closed", List.of());
      } catch (RuntimeException error) {
        System.err.println(getName() + ": " + error);
        write(getName(), "died", List.of());
      }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> taken) {
      write(getName(), "revoked", taken);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> given) {
      write(getName(), "assigned", given);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> taken) {
      write(getName(), "lost", taken);
    }
  }

  private static void write(String member, String event, Collection<TopicPartition> partitions) {
    long now = System.nanoTime();
    List<Integer> numbers = new ArrayList<>();
    for (TopicPartition partition : partitions) {
      numbers.add(partition.partition());
    }
    String line = String.format("[%d, \"%s\", \"%s\", %s]%n", now, member, event, numbers);
    synchronized (System.out) {
      System.out.print(line);
      System.out.flush();
    }
  }
}
