import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's assignors as contenders of the benchmark: FOLDER ALGORITHM STAGE SECONDS EVENT...
 *
 * <p>Files, stages and what is printed: tests/benchmarks/peers/group_files.py and contender.py.
 * CPU time is that of the calling thread: compilation and garbage collection are left out, in
 * Java's favour. The first event gets longer, so that what it measures is compiled.
 */
public final class Contender {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final double WARM_SECONDS = 1.0;

    /** A clock takes as long as a third of the shortest calls: those are timed by many at once. */
    private static final double SHORT_MS = 0.2;

    private static final double CLOCK_MS = 1e-6;
    private static final int TOGETHER = 100;

    private final List<String> topics = new ArrayList<>();
    private final Map<String, Integer> first = new HashMap<>();
    private final List<Integer> counts = new ArrayList<>();
    private final List<String> members = new ArrayList<>();
    private final int[][] classes;
    private final int[] classOf;
    private final int[] racks;
    private final int[] owner;
    private final int[][] replicaRacks;
    private final List<byte[]> blobs = new ArrayList<>();

    /** What is timed: `run` of what `prepare` returns, which is made anew each time. */
    private record Call(Supplier<Object> prepare, Function<Object, Object> run) {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        String algorithm = arguments[1];
        String stage = arguments[2];
        double seconds = Double.parseDouble(arguments[3]) + WARM_SECONDS;
        String protocol = algorithm.equals("java-cooperative") ? "cooperative" : "eager";
        if (algorithm.equals("java-uniform")) protocol = "cooperative"; // bytes are not read
        for (String event : List.of(arguments).subList(4, arguments.length)) {
            Contender group = new Contender(folder.resolve(event + "." + protocol));
            if (stage.equals("plan")) {
                group.writePlan(folder.resolve(event + "." + algorithm + ".plan"), algorithm);
                System.out.printf("{\"event\": \"%s\"}%n", event);
                continue;
            }
            Call call =
                    algorithm.equals("java-uniform") ? group.uniform() : group.client(algorithm, stage);
            System.out.println(measured(event, call, seconds));
            seconds = Double.parseDouble(arguments[3]);
        }
    }

    private static String measured(String event, Call call, double seconds) throws IOException {
        List<Object> ready = Collections.singletonList(call.prepare.get());
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        double before = status("VmRSS");
        double cold = 0, peak = 0;
        List<Double> all = new ArrayList<>();
        long until = THREADS.getCurrentThreadCpuTime() + (long) (seconds * 1e9);
        int runs = 0;
        while (true) {
            long begin = THREADS.getCurrentThreadCpuTime();
            for (Object each : ready) call.run.apply(each);
            double spent = (THREADS.getCurrentThreadCpuTime() - begin) / 1e6 / ready.size();
            if (runs == 0) {
                cold = spent;
                peak = status("VmHWM") - before;
            }
            runs += ready.size();
            all.add(spent);
            double late = (THREADS.getCurrentThreadCpuTime() - until) / 1e9;
            boolean isEnough = runs >= 3 || (late > 2 && (runs >= 2 || seconds < WARM_SECONDS));
            if (late > 0 && isEnough) break;
            int together = Math.max(1, Math.min((int) (SHORT_MS / Math.max(spent, CLOCK_MS)), TOGETHER));
            ready = Stream.generate(call.prepare).limit(together).toList();
        }
        Collections.sort(all);
        double least = all.get(all.size() / 10);
        return String.format(
                Locale.ROOT,
                "{\"event\": \"%s\", \"cold_ms\": %f, \"least_ms\": %f, \"runs\": %d, \"peak_mb\": %f}",
                event, cold, least, runs, peak);
    }

    private Contender(Path path) throws IOException {
        ByteBuffer raw = ByteBuffer.wrap(Files.readAllBytes(path));
        int topicCount = raw.getInt();
        int memberCount = raw.getInt();
        classes = new int[raw.getInt()][];
        int replicas = raw.getInt();
        owner = new int[raw.getInt()];
        int total = 0;
        for (int t = 0; t < topicCount; t++) {
            topics.add(new String(chunk(raw), StandardCharsets.UTF_8));
            first.put(topics.get(t), total);
            counts.add(raw.getInt());
            total += counts.get(t);
        }
        for (int c = 0; c < classes.length; c++) classes[c] = integers(raw, raw.getInt());
        classOf = new int[memberCount];
        racks = new int[memberCount];
        for (int m = 0; m < memberCount; m++) {
            members.add(new String(chunk(raw), StandardCharsets.UTF_8));
            classOf[m] = raw.getInt();
            racks[m] = raw.getInt();
        }
        System.arraycopy(integers(raw, owner.length), 0, owner, 0, owner.length);
        replicaRacks = new int[owner.length][];
        for (int p = 0; p < owner.length; p++) replicaRacks[p] = integers(raw, replicas);
        for (int m = 0; m < memberCount; m++) blobs.add(chunk(raw));
    }

    /** What the leader of a classic group does. */
    private Call client(String algorithm, String stage) {
        String name = algorithm.equals("java-cooperative") ? "coop" : "sticky";
        Cluster cluster = cluster();
        if (stage.equals("full")) {
            return new Call(
                    () -> null,
                    nothing -> {
                        Map<String, Subscription> subscriptions = new HashMap<>();
                        for (int m = 0; m < members.size(); m++) {
                            ByteBuffer blob = ByteBuffer.wrap(blobs.get(m));
                            subscriptions.put(
                                    members.get(m), ConsumerProtocol.deserializeSubscription(blob));
                        }
                        Map<String, ByteBuffer> written = new HashMap<>();
                        assigned(name, cluster, new GroupSubscription(subscriptions))
                                .forEach(
                                        (member, given) ->
                                                written.put(
                                                        member,
                                                        ConsumerProtocol.serializeAssignment(given)));
                        return written;
                    });
        }
        List<List<TopicPartition>> owned = owned();
        // The eager assignor reads each member's UserData to its end: it is new for every call.
        return new Call(
                () -> new GroupSubscription(subscriptions(name, owned)),
                group -> assigned(name, cluster, (GroupSubscription) group));
    }

    private static Map<String, Assignment> assigned(
            String name, Cluster cluster, GroupSubscription group) {
        return ClientAssignors.assignor(name).assign(cluster, group).groupAssignment();
    }

    /** As they come out of the bytes; made without them, as decoding may take very long. */
    private Map<String, Subscription> subscriptions(String name, List<List<TopicPartition>> owned) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (int m = 0; m < members.size(); m++) {
            List<String> wanted = new ArrayList<>();
            for (int topic : classes[classOf[m]]) wanted.add(topics.get(topic));
            List<TopicPartition> mine = owned.get(m);
            boolean isCooperative = name.equals("coop");
            ByteBuffer userData = null;
            if (!isCooperative && !mine.isEmpty()) {
                StickyAssignor writer = new StickyAssignor();
                writer.onAssignment(
                        new Assignment(mine),
                        new ConsumerGroupMetadata("g", 5, members.get(m), Optional.empty()));
                userData = writer.subscriptionUserData(Set.of());
            }
            subscriptions.put(
                    members.get(m),
                    new Subscription(
                            wanted,
                            userData,
                            isCooperative ? mine : List.of(),
                            mine.isEmpty() ? -1 : 5,
                            Optional.ofNullable(racks[m] < 0 ? null : "rack-" + racks[m])));
        }
        return subscriptions;
    }

    private List<List<TopicPartition>> owned() {
        List<List<TopicPartition>> owned = new ArrayList<>();
        for (int m = 0; m < members.size(); m++) owned.add(new ArrayList<>());
        int at = 0;
        for (int t = 0; t < topics.size(); t++) {
            for (int p = 0; p < counts.get(t); p++, at++) {
                if (owner[at] >= 0) owned.get(owner[at]).add(new TopicPartition(topics.get(t), p));
            }
        }
        return owned;
    }

    private Cluster cluster() {
        List<PartitionInfo> infos = new ArrayList<>();
        int at = 0;
        for (int t = 0; t < topics.size(); t++) {
            for (int p = 0; p < counts.get(t); p++, at++) {
                Node[] replicas = new Node[replicaRacks[at].length];
                for (int i = 0; i < replicas.length; i++) {
                    replicas[i] = new Node(i, "", 0, "rack-" + replicaRacks[at][i]);
                }
                infos.add(new PartitionInfo(topics.get(t), p, null, replicas, replicas));
            }
        }
        return new Cluster("", List.of(), infos, Set.of(), Set.of());
    }

    /** What the broker does; topics have random ids there. */
    private Call uniform() {
        Map<Uuid, Integer> numbers = new HashMap<>();
        List<Uuid> ids = new ArrayList<>();
        java.util.Random dice = new java.util.Random(1);
        for (int t = 0; t < topics.size(); t++) {
            ids.add(new Uuid(dice.nextLong(), dice.nextLong()));
            numbers.put(ids.get(t), counts.get(t));
        }
        GroupSpec group = spec(ids);
        SubscribedTopicDescriber described =
                new SubscribedTopicDescriber() {
                    @Override
                    public int numPartitions(Uuid topic) {
                        return numbers.getOrDefault(topic, -1);
                    }

                    @Override
                    public Set<String> racksForPartition(Uuid topic, int partition) {
                        return Set.of();
                    }
                };
        return new Call(
                () -> null,
                nothing -> {
                    Map<String, MemberAssignment> given =
                            ServerAssignors.assignor("srv-uniform").assign(group, described).members();
                    return new Uniform(ids, given);
                });
    }

    private record Uniform(List<Uuid> ids, Map<String, MemberAssignment> given) {}

    private GroupSpec spec(List<Uuid> ids) {
        List<Map<Uuid, Set<Integer>>> targets = new ArrayList<>();
        for (int m = 0; m < members.size(); m++) targets.add(new HashMap<>());
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        int at = 0;
        for (int t = 0; t < ids.size(); t++) {
            for (int p = 0; p < counts.get(t); p++, at++) {
                if (owner[at] < 0) continue;
                targets.get(owner[at]).computeIfAbsent(ids.get(t), id -> new HashSet<>()).add(p);
                owners.computeIfAbsent(ids.get(t), id -> new HashMap<>())
                        .put(p, members.get(owner[at]));
            }
        }
        List<Set<Uuid>> wanted = new ArrayList<>();
        for (int[] taken : classes) {
            Set<Uuid> chosen = new LinkedHashSet<>();
            for (int topic : taken) chosen.add(ids.get(topic));
            wanted.add(chosen);
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> all = new HashMap<>();
        for (int m = 0; m < members.size(); m++) {
            all.put(
                    members.get(m),
                    new MemberSubscriptionAndAssignmentImpl(
                            Optional.empty(),
                            Optional.empty(),
                            wanted.get(classOf[m]),
                            new org.apache.kafka.coordinator.group.modern.Assignment(
                                    Collections.unmodifiableMap(targets.get(m)))));
        }
        SubscriptionType type =
                classes.length == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(all, type, owners);
    }

    private void writePlan(Path path, String algorithm) throws IOException {
        int[] given = new int[owner.length];
        Arrays.fill(given, -1);
        Call call = algorithm.equals("java-uniform") ? uniform() : client(algorithm, "assign");
        Object answer = call.run.apply(call.prepare.get());
        for (int m = 0; m < members.size(); m++) {
            int member = m;
            if (answer instanceof Uniform uniform) {
                uniform.given
                        .get(members.get(m))
                        .partitions()
                        .forEach(
                                (id, numbers) -> {
                                    int start = first.get(topics.get(uniform.ids.indexOf(id)));
                                    for (int number : numbers) given[start + number] = member;
                                });
            } else {
                Map<?, ?> assignments = (Map<?, ?>) answer;
                Assignment share = (Assignment) assignments.get(members.get(m));
                for (TopicPartition p : share.partitions()) {
                    given[first.get(p.topic()) + p.partition()] = member;
                }
            }
        }
        ByteBuffer out = ByteBuffer.allocate(4 * given.length);
        for (int member : given) out.putInt(member);
        Files.write(path, out.array());
    }

    private static byte[] chunk(ByteBuffer raw) {
        byte[] taken = new byte[raw.getInt()];
        raw.get(taken);
        return taken;
    }

    private static int[] integers(ByteBuffer raw, int count) {
        int[] taken = new int[count];
        raw.asIntBuffer().get(taken);
        raw.position(raw.position() + 4 * count);
        return taken;
    }

    private static double status(String name) throws IOException {
        String text = Files.readString(Path.of("/proc/self/status"));
        Matcher found = Pattern.compile(name + ":\\s+(\\d+) kB").matcher(text);
        if (!found.find()) throw new IOException("no " + name);
        return Double.parseDouble(found.group(1)) / 1024;
    }
}
