import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Members of groups on Java's client, a thread each, that do what they are asked between two calls
 * of poll(), and report every callback: when, in which thread, inside which call.
 *
 * <p>Lines on standard input:
 *
 * <ul>
 *   <li>`fill TOPIC PARTITIONS RECORDS` writes so many records to each partition;
 *   <li>`start NAME key=value ...` starts a member: settings of the consumer, and `topics`, `busy-ms`
 *       (what the application does after a poll that returned a record), `poll-ms`, `stop-after`
 *       (records, after which it polls no more), `polls` (calls of poll, likewise), `revoke-ms` (how
 *       long its callback for revoked partitions takes), `assign-waits` (its first callback for any
 *       assigned partitions is not over before it is asked for something), `seeks` (it reads assigned
 *       partitions from their beginning), `records` (each record is reported);
 *   <li>`do NAME VERB ARGUMENT` lets it do something: see `Member.act`.
 * </ul>
 *
 * <p>Out: nanoseconds of the monotonic clock, member, event, call, thread, partitions, text.
 */
public final class Clients {
  private static final List<String> OWN =
      List.of(
          "topics",
          "busy-ms",
          "poll-ms",
          "stop-after",
          "polls",
          "revoke-ms",
          "assign-waits",
          "seeks",
          "records");

  private final String bootstrap;
  private final Map<String, Member> members = new HashMap<>();

  public static void main(String[] arguments) throws IOException {
    Clients clients = new Clients(arguments[1]);
    write("", "ready", "", List.of(), "");
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        clients.ask(line.split(" "));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private Clients(String bootstrap) {
    this.bootstrap = bootstrap;
  }

  private void ask(String[] words) {
    switch (words[0]) {
      case "fill" -> fill(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      case "start" -> {
        Map<String, String> given = new HashMap<>();
        for (String word : Arrays.copyOfRange(words, 2, words.length)) {
          int at = word.indexOf('=');
          given.put(word.substring(0, at), word.substring(at + 1));
        }
        Member member = new Member(words[1], given);
        members.put(words[1], member);
        member.start();
      }
      default -> members.get(words[1]).asked.add(Arrays.copyOfRange(words, 2, words.length));
    }
  }

  private void fill(String topic, int partitions, int records) {
    Properties all = new Properties();
    all.put("bootstrap.servers", bootstrap);
    all.put("key.serializer", ByteArraySerializer.class.getName());
    all.put("value.serializer", ByteArraySerializer.class.getName());
    all.put("linger.ms", "5");
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(all)) {
      for (int record = 0; record < records; record++) {
        for (int partition = 0; partition < partitions; partition++) {
          producer.send(new ProducerRecord<>(topic, partition, null, new byte[1]));
        }
      }
    }
    write("", "filled", "", List.of(), topic);
  }

  /** One consumer, from its constructor to the end of its close(). */
  private final class Member extends Thread implements ConsumerRebalanceListener {
    private final Map<String, String> given;
    private final LinkedBlockingQueue<String[]> asked = new LinkedBlockingQueue<>();
    private KafkaConsumer<byte[], byte[]> consumer;
    private volatile String call = "";
    private int records = 0;
    private boolean isPolling = true;
    private boolean isClosed = false;
    private boolean hasWaited = false;
    private int revocations = 0;
    private int polls = 0;

    Member(String name, Map<String, String> given) {
      super(name);
      this.given = given;
      setDaemon(true);
    }

    private int number(String name, int otherwise) {
      return Integer.parseInt(given.getOrDefault(name, String.valueOf(otherwise)));
    }

    private Properties properties() {
      Properties all = new Properties();
      all.put("bootstrap.servers", bootstrap);
      all.put("client.id", getName());
      all.put("key.deserializer", ByteArrayDeserializer.class.getName());
      all.put("value.deserializer", ByteArrayDeserializer.class.getName());
      all.put("enable.auto.commit", "false");
      all.put("auto.offset.reset", "earliest");
      all.put("max.poll.records", "1");
      given.forEach((name, value) -> {
        if (!OWN.contains(name)) {
          all.put(name, value);
        }
      });
      return all;
    }

    @Override
    public void run() {
      report("starting", List.of(), "");
      try {
        consumer = new KafkaConsumer<>(properties());
        subscribe(given.get("topics"));
        report("subscribed", List.of(), "");
        while (!isClosed) {
          String[] next = isPolling ? asked.poll() : asked.poll(20, TimeUnit.MILLISECONDS);
          if (next != null) {
            act(next[0], next.length > 1 ? next[1] : "");
          } else if (isPolling) {
            poll();
          }
        }
      } catch (Exception error) {
        report("died", List.of(), error.getClass().getSimpleName());
        if (consumer != null) {
          try {
            within("close", () -> consumer.close(CloseOptions.timeout(Duration.ZERO)));
          } catch (RuntimeException again) {
            report("failed", List.of(), again.getClass().getSimpleName());
          }
        }
        report("closed", List.of(), "");
      }
    }

    private void within(String name, Runnable what) {
      call = name;
      try {
        what.run();
      } finally {
        call = "";
      }
    }

    private void subscribe(String topics) {
      within("subscribe", () -> consumer.subscribe(List.of(topics.split(",")), this));
    }

    private void poll() throws InterruptedException {
      List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
      Duration most = Duration.ofMillis(number("poll-ms", 100));
      within("poll", () -> consumer.poll(most).forEach(found::add));
      if (++polls == number("polls", Integer.MAX_VALUE)) {
        isPolling = false;
      }
      if (found.isEmpty()) {
        return;
      }
      for (ConsumerRecord<byte[], byte[]> each : found) {
        records++;
        if (given.containsKey("records")) {
          report("record", List.of(new TopicPartition(each.topic(), each.partition())), "");
        }
        if (records == 1) {
          report("first", List.of(new TopicPartition(each.topic(), each.partition())), "");
        }
      }
      if (records == number("stop-after", Integer.MAX_VALUE)) {
        isPolling = false;
        report("stopped", List.of(), String.valueOf(records));
      }
      int busy = number("busy-ms", 0);
      if (busy > 0 && isPolling) {
        sleep(busy);
      }
    }

    private void act(String verb, String argument) throws InterruptedException {
      report("does-" + verb, List.of(), argument);
      switch (verb) {
        case "stall" -> sleep(Long.parseLong(argument));
        case "poll" -> {
          int before = revocations;
          while (revocations == before) {
            within("poll", () -> consumer.poll(Duration.ofMillis(1)));
          }
        }
        case "resume" -> isPolling = true;
        case "rest" -> isPolling = false;
        case "subscribe" -> subscribe(argument);
        case "enforce-rebalance" -> within("enforceRebalance", consumer::enforceRebalance);
        case "unsubscribe" -> {
          within("unsubscribe", consumer::unsubscribe);
          isPolling = false;
        }
        case "commit-async" ->
            within(
                "commitAsync",
                () ->
                    consumer.commitAsync(
                        offsets(argument),
                        (committed, error) ->
                            report(
                                "committed",
                                committed.keySet(),
                                error == null ? "" : error.getClass().getSimpleName())));
        case "commit-sync" -> {
          String[] words = argument.split("/");
          Duration most = Duration.ofMillis(Long.parseLong(words[1]));
          attempt("commitSync", () -> consumer.commitSync(offsets(words[0]), most));
        }
        case "close" -> {
          CloseOptions most = CloseOptions.timeout(Duration.ofMillis(Long.parseLong(argument)));
          attempt("close", () -> consumer.close(most));
          isClosed = true;
          report("closed", List.of(), "");
        }
        default -> throw new IllegalArgumentException(verb);
      }
    }

    private void attempt(String name, Runnable what) {
      try {
        within(name, what);
        report("did", List.of(), name);
      } catch (RuntimeException error) {
        report("failed", List.of(), name + " " + error.getClass().getSimpleName());
      }
    }

    /** An offset for every assigned partition. */
    private Map<TopicPartition, OffsetAndMetadata> offsets(String offset) {
      Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
      for (TopicPartition each : consumer.assignment()) {
        all.put(each, new OffsetAndMetadata(Long.parseLong(offset)));
      }
      return all;
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> taken) {
      revocations++;
      report("revoked", taken, "");
      int rest = number("revoke-ms", 0);
      if (rest > 0) {
        try {
          sleep(rest);
        } catch (InterruptedException error) {
          currentThread().interrupt();
        }
      }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> taken) {
      report("assigned", taken, "");
      if (given.containsKey("seeks")) {
        taken.forEach(each -> consumer.seek(each, 0));
      }
      if (given.containsKey("assign-waits") && !hasWaited && !taken.isEmpty()) {
        hasWaited = true;
        try {
          report("goes-on", List.of(), asked.take()[0]);
        } catch (InterruptedException error) {
          currentThread().interrupt();
        }
      }
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> taken) {
      report("lost", taken, "");
    }

    private void report(String event, Collection<TopicPartition> partitions, String text) {
      write(getName(), event, call, partitions, text);
    }
  }

  private static void write(
      String member,
      String event,
      String call,
      Collection<TopicPartition> partitions,
      String text) {
    long now = System.nanoTime();
    String current = Thread.currentThread().getName();
    List<String> names = new ArrayList<>();
    for (String each : new TreeSet<>(partitions.stream().map(TopicPartition::toString).toList())) {
      names.add("\"" + each + "\"");
    }
    String line =
        String.format(
            "[%d, \"%s\", \"%s\", \"%s\", \"%s\", [%s], \"%s\"]%n",
            now,
            member,
            event,
            call,
            current.equals(member) ? "application" : current,
            String.join(", ", names),
            text);
    synchronized (System.out) {
      System.out.print(line);
      System.out.flush();
    }
  }
}
