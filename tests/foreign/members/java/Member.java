import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A group member on Java's client, compiled against 2.4.1 and run with any version of it.
 *
 * <p>Flags in, one JSON object a line out, commands on standard input (see the report package of
 * the Go members for the same in another language). An exception out of poll() ends the program,
 * as it ends a plain application.
 */
public class Member implements ConsumerRebalanceListener {
  private static final String CLIENT = "org.apache.kafka.clients.consumer.";
  private static final Map<String, String> ASSIGNORS =
      Map.of(
          "range", CLIENT + "RangeAssignor",
          "roundrobin", CLIENT + "RoundRobinAssignor",
          "sticky", CLIENT + "StickyAssignor",
          "cooperative-sticky", CLIENT + "CooperativeStickyAssignor");

  private static final long VIEW_MS = 400;

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Queue<String> commands = new ConcurrentLinkedQueue<>();

  /** What was reported and not committed yet: the offset to go on from. */
  private final Map<TopicPartition, OffsetAndMetadata> uncommitted = new HashMap<>();

  private Set<TopicPartition> shown = new HashSet<>();
  private long shownAt = 0;

  Member(Map<String, String> flags) {
    consumer = new KafkaConsumer<>(properties(flags));
    consumer.subscribe(Arrays.asList(flags.get("topics").split(",")), this);
  }

  public static void main(String[] arguments) {
    Map<String, String> flags = new HashMap<>();
    for (int at = 0; at + 1 < arguments.length; at += 2) {
      flags.put(arguments[at].substring(2), arguments[at + 1]);
    }
    Member member = new Member(flags);
    Thread reader = new Thread(member::read);
    reader.setDaemon(true);
    reader.start();
    write("started", "");
    try {
      member.run();
    } catch (Throwable error) {
      error(error);
      // The process dies with its claims, as an application without a catch does.
      Runtime.getRuntime().halt(3);
    }
    try {
      member.commit();
      member.consumer.close(Duration.ofSeconds(5));
    } catch (RuntimeException error) {
      error(error);
    }
    write("closed", "");
    Runtime.getRuntime().halt(0);
  }

  private static Properties properties(Map<String, String> flags) {
    Properties all = new Properties();
    all.put("bootstrap.servers", flags.get("bootstrap"));
    all.put("group.id", flags.get("group"));
    all.put("client.id", flags.get("client-id"));
    all.put("key.deserializer", ByteArrayDeserializer.class.getName());
    all.put("value.deserializer", ByteArrayDeserializer.class.getName());
    all.put("auto.offset.reset", "earliest");
    all.put("enable.auto.commit", "false");
    all.put("fetch.max.wait.ms", "200");
    all.put("reconnect.backoff.max.ms", "500");
    all.put("metadata.max.age.ms", flags.get("metadata-max-age-ms"));
    all.put("max.poll.interval.ms", flags.get("rebalance-timeout-ms"));
    if ("consumer".equals(flags.get("group-protocol"))) {
      all.put("group.protocol", "consumer");
    } else {
      List<String> classes = new ArrayList<>();
      for (String name : flags.get("assignors").split(",")) {
        classes.add(ASSIGNORS.get(name));
      }
      all.put("partition.assignment.strategy", String.join(",", classes));
      all.put("session.timeout.ms", flags.get("session-timeout-ms"));
      all.put("heartbeat.interval.ms", flags.get("heartbeat-ms"));
    }
    if (!flags.get("instance").isEmpty()) {
      all.put("group.instance.id", flags.get("instance"));
    }
    if (!flags.get("rack").isEmpty()) {
      all.put("client.rack", flags.get("rack"));
    }
    return all;
  }

  private void read() {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        commands.add(line);
      }
    } catch (java.io.IOException end) {
      // as the end of the input
    }
    commands.add("close");
  }

  private void run() {
    while (true) {
      String command = commands.poll();
      if ("close".equals(command)) {
        return;
      }
      if (command != null && command.startsWith("subscribe ")) {
        String[] topics = command.substring("subscribe ".length()).split(",");
        consumer.subscribe(Arrays.asList(topics), this);
      }
      ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
      report(records);
      commit();
      Set<TopicPartition> owned = consumer.assignment();
      long now = System.currentTimeMillis();
      if ("view".equals(command) || now - shownAt > VIEW_MS || !owned.equals(shown)) {
        shown = new HashSet<>(owned);
        shownAt = now;
        write("view", partitions(owned));
      }
    }
  }

  private void report(ConsumerRecords<byte[], byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      long first = -1;
      long last = -2;
      for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
        long sequence = Long.parseLong(new String(record.value()));
        if (sequence != last + 1) {
          records(partition, first, last);
          first = sequence;
        }
        last = sequence;
        uncommitted.put(partition, new OffsetAndMetadata(record.offset() + 1));
      }
      records(partition, first, last);
    }
  }

  private static void records(TopicPartition partition, long first, long last) {
    if (last >= first && first >= 0) {
      String fields = ",\"topic\":\"%s\",\"partition\":%d,\"first\":%d,\"last\":%d";
      write("records", String.format(fields, partition.topic(), partition.partition(), first, last));
    }
  }

  private void commit() {
    uncommitted.keySet().retainAll(consumer.assignment());
    if (uncommitted.isEmpty()) {
      return;
    }
    try {
      consumer.commitSync(uncommitted, Duration.ofSeconds(2));
      uncommitted.clear();
    } catch (CommitFailedException | RebalanceInProgressException | RetriableException error) {
      // Tried again after the next poll: usual while the group rebalances.
      error(error);
    }
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> taken) {
    commit();
    uncommitted.keySet().removeAll(taken);
    write("revoked", partitions(taken));
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> given) {
    write("assigned", partitions(given));
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> taken) {
    uncommitted.keySet().removeAll(taken);
    write("lost", partitions(taken));
  }

  private static String partitions(Collection<TopicPartition> all) {
    Map<String, TreeSet<Integer>> topics = new TreeMap<>();
    for (TopicPartition one : all) {
      topics.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
    }
    List<String> pairs = new ArrayList<>();
    topics.forEach((topic, numbers) -> pairs.add("[\"" + topic + "\"," + numbers + "]"));
    return ",\"partitions\":" + pairs;
  }

  private static void error(Throwable error) {
    String text = error.toString().replace('\\', '/').replace('"', '\'').replaceAll("\\s+", " ");
    write("error", ",\"text\":\"" + text + "\"");
  }

  private static synchronized void write(String event, String fields) {
    long now = System.currentTimeMillis();
    System.out.println("{\"t\":" + now + ",\"event\":\"" + event + "\"" + fields + "}");
    System.out.flush();
  }
}
