import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Commits offsets of many groups at random times, and measures how long each commit takes.
 *
 * <p>Times come from a Poisson process whatever the broker does: a commit that finds no free
 * connection waits, and its wait counts; that this program is late does not. A broker reads the next request of a connection once it has
 * answered the last one, so there are many connections, with one request each. Groups have no
 * members: any generation may commit. One thread sends, one receives.
 *
 * <p>Flags in; a line `RATE SECONDS WARM_SECONDS SEED` on standard input is a run; out, a line of
 * JSON for each.
 */
public final class CommitLoad {
  private static final short VERSION = 9;
  private static final short HEADER_VERSION = 2;
  private static final int CORRELATION_AT = 8;
  private static final int[] PER_MILLE = {10, 50, 100, 250, 500, 750, 900, 950, 990, 999, 1000};

  private final Map<String, String> flags = new HashMap<>();
  private final List<byte[]> requests = new ArrayList<>();
  private final ArrayDeque<Connection> free = new ArrayDeque<>();
  private final ArrayDeque<Long> waiting = new ArrayDeque<>();
  private final Selector selector;
  private int errorAt;
  private Random groups = new Random();
  private Run run;

  public static void main(String[] arguments) throws Exception {
    CommitLoad load = new CommitLoad(arguments);
    System.out.println("{\"ready\": true}");
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        System.out.println(
            load.play(
                Double.parseDouble(words[0]),
                Double.parseDouble(words[1]),
                Double.parseDouble(words[2]),
                Long.parseLong(words[3])));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private CommitLoad(String[] arguments) throws IOException {
    for (int at = 0; at + 1 < arguments.length; at += 2) {
      flags.put(arguments[at].substring(2), arguments[at + 1]);
    }
    int partitions = number("offsets-partitions");
    for (int group = 0; group < number("groups"); group++) {
      requests.add(request(name(group, partitions)));
    }
    selector = Selector.open();
    String[] address = flags.get("bootstrap").split(":");
    for (int count = 0; count < number("connections"); count++) {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(address[0], Integer.parseInt(address[1])));
      channel.socket().setTcpNoDelay(true);
      channel.configureBlocking(false);
      Connection connection = new Connection(channel);
      channel.register(selector, SelectionKey.OP_READ, connection);
      free.add(connection);
    }
    Thread receiver = new Thread(this::receive, "receiver");
    receiver.setDaemon(true);
    receiver.start();
  }

  private int number(String flag) {
    return Integer.parseInt(flags.get(flag));
  }

  /** The name of a group whose offsets partition is its number, modulo their count. */
  private static String name(int group, int partitions) {
    for (int suffix = 0; ; suffix++) {
      String name = "load-" + group + "-" + suffix;
      if ((name.hashCode() & 0x7fffffff) % partitions == group % partitions) {
        return name;
      }
    }
  }

  private byte[] request(String group) {
    String topic = flags.get("topic");
    // Size, correlation, tags, throttle time, count, length, name, count, partition; all lengths
    // are below 127.
    errorAt = 4 + 4 + 1 + 4 + 1 + 1 + topic.length() + 1 + 4;
    OffsetCommitRequestPartition partition =
        new OffsetCommitRequestPartition().setPartitionIndex(0).setCommittedOffset(1);
    OffsetCommitRequestData body =
        new OffsetCommitRequestData()
            .setGroupId(group)
            .setMemberId("")
            .setGenerationIdOrMemberEpoch(-1)
            .setTopics(
                List.of(
                    new OffsetCommitRequestTopic()
                        .setName(topic)
                        .setPartitions(List.of(partition))));
    RequestHeaderData header =
        new RequestHeaderData()
            .setRequestApiKey(ApiKeys.OFFSET_COMMIT.id)
            .setRequestApiVersion(VERSION)
            .setClientId("load");
    ObjectSerializationCache cache = new ObjectSerializationCache();
    int size = size(header, cache, HEADER_VERSION) + size(body, cache, VERSION);
    ByteBuffer buffer = ByteBuffer.allocate(4 + size);
    buffer.putInt(size);
    header.write(new ByteBufferAccessor(buffer), cache, HEADER_VERSION);
    body.write(new ByteBufferAccessor(buffer), cache, VERSION);
    return buffer.array();
  }

  private static int size(Message message, ObjectSerializationCache cache, short version) {
    return message.size(cache, version);
  }

  private String play(double rate, double seconds, double warmSeconds, long seed)
      throws IOException, InterruptedException {
    Random gaps = new Random(seed);
    groups = new Random(seed + 1);
    long from = System.nanoTime();
    Run current = new Run(from + (long) (warmSeconds * 1e9), (long) (seconds * 1e9));
    synchronized (this) {
      run = current;
    }
    long used = -1;
    double at = from;
    while (at < current.end) {
      waitUntil((long) at);
      if (used < 0 && at >= current.begin) {
        used = processorTime();
      }
      Connection connection;
      synchronized (this) {
        connection = free.poll();
        if (connection == null) {
          waiting.add((long) at);
        } else {
          connection.begin(System.nanoTime());
          current.late(System.nanoTime() - (long) at);
        }
      }
      if (connection != null) {
        connection.flush();
      }
      at += -Math.log(1 - gaps.nextDouble()) * 1e9 / rate;
    }
    used = processorTime() - used;
    synchronized (this) {
      current.unsent = waiting.size();
      waiting.clear();
    }
    for (int tries = 0; tries < 1000; tries++) {
      synchronized (this) {
        if (free.size() == number("connections")) {
          break;
        }
      }
      Thread.sleep(10);
    }
    synchronized (this) {
      return current.json(rate, used / 1e9);
    }
  }

  private static void waitUntil(long at) {
    for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
      if (left > 20_000) {
        LockSupport.parkNanos(left - 10_000);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private static long processorTime() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private void receive() {
    try {
      while (true) {
        selector.select();
        Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
        while (keys.hasNext()) {
          Connection connection = (Connection) keys.next().attachment();
          keys.remove();
          if (connection.read()) {
            answered(connection, System.nanoTime());
          }
        }
      }
    } catch (IOException error) {
      System.err.println(error);
      Runtime.getRuntime().halt(1);
    }
  }

  private void answered(Connection connection, long now) throws IOException {
    boolean isSending = false;
    synchronized (this) {
      run.add(connection, now);
      Long next = waiting.poll();
      if (next == null) {
        free.add(connection);
      } else {
        connection.begin(next);
        isSending = true;
      }
    }
    if (isSending) {
      connection.flush();
    }
  }

  /** A connection, with the one request that is on it. */
  private final class Connection {
    private final SocketChannel channel;
    private final ByteBuffer out = ByteBuffer.allocateDirect(1024);
    private final ByteBuffer in = ByteBuffer.allocateDirect(1024);
    private int correlation = 0;
    private long due;

    Connection(SocketChannel channel) {
      this.channel = channel;
    }

    void begin(long at) {
      due = at;
      out.clear();
      out.put(requests.get(groups.nextInt(requests.size())));
      out.putInt(CORRELATION_AT, ++correlation);
      out.flip();
      in.clear();
    }

    void flush() throws IOException {
      while (out.hasRemaining()) {
        channel.write(out);
      }
    }

    /** Whether the answer is complete. */
    boolean read() throws IOException {
      if (channel.read(in) < 0) {
        throw new IOException("the broker hung up");
      }
      return in.position() >= 4 && in.position() >= 4 + in.getInt(0);
    }

    boolean isRefused() {
      return in.getShort(errorAt) != 0 || in.getInt(4) != correlation;
    }
  }

  /** What is counted: requests that were due in a window, answers that came in it. */
  private static final class Run {
    private final long begin;
    private final long end;
    private int[] micros = new int[1 << 16];
    private int count = 0;
    private int answeredInWindow = 0;
    private int refused = 0;
    private int unsent = 0;
    private long lateNanos = 0;
    private int sentAtOnce = 0;

    Run(long begin, long lasts) {
      this.begin = begin;
      this.end = begin + lasts;
    }

    void late(long nanos) {
      lateNanos += nanos;
      sentAtOnce++;
    }

    void add(Connection connection, long now) {
      if (now >= begin && now < end) {
        answeredInWindow++;
      }
      refused += connection.isRefused() ? 1 : 0;
      if (connection.due >= begin && connection.due < end) {
        if (count == micros.length) {
          micros = Arrays.copyOf(micros, 2 * count);
        }
        micros[count++] = (int) ((now - connection.due) / 1000);
      }
    }

    String json(double rate, double processorSeconds) {
      Arrays.sort(micros, 0, count);
      StringBuilder found = new StringBuilder();
      for (int each : PER_MILLE) {
        int at = Math.max(0, (int) Math.ceil(each / 1000.0 * count) - 1);
        String text = String.format("\"%d\": %d", each, count == 0 ? 0 : micros[at]);
        found.append(found.length() == 0 ? "" : ", ").append(text);
      }
      return String.format(
          "{\"rate\": %.0f, \"seconds\": %.3f, \"answered\": %d, \"measured\": %d, \"refused\": %d,"
              + " \"unsent\": %d, \"late_us\": %.1f, \"load_processor_s\": %.3f,"
              + " \"per_mille_us\": {%s}}",
          rate,
          (end - begin) / 1e9,
          answeredInWindow,
          count,
          refused,
          unsent,
          sentAtOnce == 0 ? 0.0 : lateNanos / 1000.0 / sentAtOnce,
          processorSeconds,
          found);
    }
  }
}
