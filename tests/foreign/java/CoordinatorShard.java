import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorOperationExceptionHelper;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.SnapshottableCoordinator;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupRegularExpressionKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupRegularExpressionValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataValue;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's group coordinator plays a history: a list of requests and of times that pass.
 *
 * <p>The coordinator is a function here: its clock, its timers and the ids it gives out are ours,
 * its records are replicated as soon as they are written. Of each operation the answer lists the
 * responses that left and the records that were written. Request n is the n-th operation.
 *
 * <p>With "replicates": "later" the history also says when each append is replicated, or that it
 * fails, by the number of the append; and when each timer fires, at which time ("at") an operation
 * comes, and which ids are given out.
 *
 * <p>With "writes": "batches" the history says besides when what was appended is written to the
 * local log, as one batch ("written"), and up to where that is replicated ("committed"). What is not
 * written may fail, and all that is not replicated may be lost; whoever waits for it is answered as
 * Kafka's runtime and service do, and timers whose records fail fire again.
 */
final class CoordinatorShard {
    private static final TopicPartition OFFSETS = new TopicPartition("__consumer_offsets", 0);
    private static final String GROUP = "g";
    private static final long START = 1_000_000;
    private static final long BACKOFF = 500;
    private static final Logger LOG = LoggerFactory.getLogger(CoordinatorShard.class);
    private static final Deque<byte[]> givenIds = new ArrayDeque<>();
    private static final Map<String, Uuid> givenTopicIds = new HashMap<>();
    private static long ids;

    /** The ids that a history gives; else it counts: the n-th UUID ends with n. */
    public static final class CountingRandom extends SecureRandomSpi {
        @Override
        protected void engineSetSeed(byte[] seed) {}

        @Override
        protected byte[] engineGenerateSeed(int size) {
            return new byte[size];
        }

        @Override
        protected void engineNextBytes(byte[] out) {
            byte[] given = givenIds.poll();
            if (given != null) {
                System.arraycopy(given, 0, out, 0, out.length);
                return;
            }
            byte[] count = ByteBuffer.allocate(Long.BYTES).putLong(++ids).array();
            for (int i = 1; i <= out.length; i++) {
                out[out.length - i] = i > count.length ? 0 : count[count.length - i];
            }
        }
    }

    /** To be called before anything makes a UUID: that class keeps its source of randomness. */
    static void countIds() {
        Provider provider = new Provider("counting", "1", "ids that count") {};
        provider.put("SecureRandom.Counting", CountingRandom.class.getName());
        Security.insertProviderAt(provider, 1);
    }

    private record Client(String clientId, int requestType, int requestVersion)
            implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "TEST";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public KafkaPrincipal principal() {
            return KafkaPrincipal.ANONYMOUS;
        }

        @Override
        public InetAddress clientAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }

    private static final class Clock implements Time {
        long now = START;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            now += ms;
        }
    }

    private record Due(
            String key,
            long at,
            boolean retry,
            long backoff,
            CoordinatorTimer.TimeoutOperation<CoordinatorRecord> operation) {}

    /** Timers fire by their time, those of one moment in the order in which they were set. */
    private final class Timers implements CoordinatorTimer<CoordinatorRecord> {
        final Map<String, Due> running = new LinkedHashMap<>();

        @Override
        public void schedule(
                String key,
                long delay,
                TimeUnit unit,
                boolean retry,
                TimeoutOperation<CoordinatorRecord> operation) {
            schedule(key, delay, unit, retry, BACKOFF, operation);
        }

        @Override
        public void schedule(
                String key,
                long delay,
                TimeUnit unit,
                boolean retry,
                long backoff,
                TimeoutOperation<CoordinatorRecord> operation) {
            running.remove(key);
            long at = clock.now + unit.toMillis(delay);
            running.put(key, new Due(key, at, retry, backoff, operation));
        }

        /** As `CoordinatorTimerImpl` does where the records of a timer could not be written. */
        void again(Due due) {
            if (!due.retry) return;
            schedule(due.key, due.backoff, TimeUnit.MILLISECONDS, true, due.backoff, due.operation);
        }

        @Override
        public void scheduleIfAbsent(
                String key,
                long delay,
                TimeUnit unit,
                boolean retry,
                TimeoutOperation<CoordinatorRecord> operation) {
            if (!isScheduled(key)) schedule(key, delay, unit, retry, operation);
        }

        @Override
        public void cancel(String key) {
            running.remove(key);
        }

        @Override
        public boolean isScheduled(String key) {
            return running.containsKey(key);
        }

        Due next(long until) {
            Due first = null;
            for (Due due : running.values()) {
                if (due.at <= until && (first == null || due.at < first.at)) first = due;
            }
            return first;
        }
    }

    private record Task<R>(
            CoordinatorExecutor.TaskRunnable<R> task,
            CoordinatorExecutor.TaskOperation<CoordinatorRecord, R> then) {}

    /** What the background thread is to do waits for the operation "tasks". */
    private final class Tasks implements CoordinatorExecutor<CoordinatorRecord> {
        final Map<String, Task<?>> waiting = new LinkedHashMap<>();

        @Override
        public <R> boolean schedule(
                String key, TaskRunnable<R> task, TaskOperation<CoordinatorRecord, R> then) {
            return waiting.putIfAbsent(key, new Task<>(task, then)) == null;
        }

        @Override
        public boolean isScheduled(String key) {
            return waiting.containsKey(key);
        }

        @Override
        public void cancel(String key) {
            waiting.remove(key);
        }
    }

    /** What stands in the log: a record, or the marker that a transaction has ended. */
    private record Written(
            long offset, long producer, CoordinatorRecord record, TransactionResult end) {
        void replayBy(SnapshottableCoordinator<GroupCoordinatorShard, CoordinatorRecord> state) {
            if (record != null) state.replay(offset, producer, (short) -1, record);
            else state.replayEndTransactionMarker(producer, (short) 0, end);
        }
    }

    /** An append that is not replicated: where it begins and ends, and what waits for it. */
    private record Waiting(
            long from,
            List<Written> batch,
            CompletableFuture<Void> future,
            Runnable then,
            Consumer<Throwable> otherwise) {
        long end() {
            return from + batch.size();
        }
    }

    private interface Step<T> {
        CoordinatorResult<T, CoordinatorRecord> run() throws Throwable;
    }

    private final Clock clock = new Clock();
    private final Timers timers = new Timers();
    private final Tasks tasks = new Tasks();
    private final JsonNode settings;
    private final boolean replicatesLater;
    private final boolean writesBatches;
    private final boolean isOnTime;
    private final Map<Integer, Waiting> waiting = new LinkedHashMap<>();
    private int appends;
    private long committed;
    private long inLog;
    private final List<Written> log = new ArrayList<>();
    private SnapshottableCoordinator<GroupCoordinatorShard, CoordinatorRecord> state;
    private GroupCoordinatorConfig groupConfig;
    private GroupCoordinatorShard shard;
    private final Map<Uuid, String> names = new HashMap<>();
    private MetadataImage image = MetadataImage.EMPTY;
    private long imageVersion;
    private long written;
    private long producer = -1;
    private int number;
    private ArrayNode responses;
    private ArrayNode records;

    private CoordinatorShard(JsonNode in) {
        settings = in.path("broker");
        replicatesLater = in.path("replicates").asText().equals("later");
        writesBatches = in.path("writes").asText().equals("batches");
        isOnTime = in.path("timers").asText().equals("on time");
        load(List.of());
    }

    /** A coordinator that has read these records, and knows nothing besides. */
    private void load(List<Written> records) {
        Map<String, Object> broker = new HashMap<>();
        settings.properties().forEach(e -> broker.put(e.getKey(), e.getValue().asText()));
        AbstractConfig config =
                new AbstractConfig(
                        Utils.mergeConfigs(
                                List.of(
                                        GroupCoordinatorConfig.CONFIG_DEF,
                                        ShareGroupConfig.CONFIG_DEF)),
                        broker,
                        false);
        groupConfig = new GroupCoordinatorConfig(config);
        LogContext context = new LogContext();
        SnapshotRegistry snapshots = new SnapshotRegistry(context);
        shard =
                new GroupCoordinatorShard.Builder(
                                groupConfig,
                                new GroupConfigManager(groupConfig, new ShareGroupConfig(config)))
                        .withAuthorizerPlugin(Optional.empty())
                        .withLogContext(context)
                        .withTime(clock)
                        .withTimer(timers)
                        .withExecutor(tasks)
                        .withCoordinatorMetrics(
                                new GroupCoordinatorMetrics(
                                        new com.yammer.metrics.core.MetricsRegistry(),
                                        new Metrics()))
                        .withTopicPartition(OFFSETS)
                        .withSnapshotRegistry(snapshots)
                        .build();
        state = new SnapshottableCoordinator<>(context, snapshots, shard, OFFSETS);
        for (Written each : records) each.replayBy(state);
        if (written > 0) {
            state.updateLastWrittenOffset(written);
            replicate(written);
        }
        shard.onLoaded(new KRaftCoordinatorMetadataImage(image));
    }

    /** in: broker settings, ops; out: for each of ops the responses and records. */
    static void play(JsonNode in, ObjectNode out) throws Throwable {
        ids = 0;
        givenTopicIds.clear();
        in.path("topicIds")
                .properties()
                .forEach(e -> givenTopicIds.put(e.getKey(), Uuid.fromString(e.getValue().asText())));
        CoordinatorShard coordinator = new CoordinatorShard(in);
        ArrayNode steps = out.putArray("steps");
        for (JsonNode operation : in.get("ops")) steps.add(coordinator.play(operation));
    }

    private ObjectNode play(JsonNode in) throws Throwable {
        ObjectNode out = Judge.object();
        responses = out.putArray("responses");
        records = out.putArray("records");
        if (in.hasNonNull("at")) comeTo(START + in.get("at").asLong());
        givenIds.clear();
        in.path("ids").forEach(id -> givenIds.add(bytes(id)));
        switch (in.get("op").asText()) {
            case "topics" -> topics(in.get("topics"));
            case "consumer" -> consumer(in);
            case "join" -> join(in);
            case "sync" -> sync(in);
            case "heartbeat" -> heartbeat(in);
            case "leave" -> leave(in);
            case "commit" -> commit(in);
            case "fetch-offsets" -> fetchOffsets(in);
            case "delete-offsets" -> deleteOffsets(in);
            case "end-transaction" -> endTransaction(in);
            case "tasks" -> runTasks();
            case "lose" -> lose(in.get("lost"));
            case "reload" -> reload(in);
            case "advance" -> advance(in.get("ms").asLong());
            case "fire" -> fire(in.get("timer").asText(), in.path("of").asText());
            case "replicated" -> replicated(in.get("append").asInt());
            case "written" -> writeBatch();
            case "committed" -> committed(in.get("appends"));
            case "failed" -> failed(in.get("appends"));
            default -> throw new IllegalArgumentException(in.toString());
        }
        number++;
        return out;
    }

    /** Topics by name with their partition counts; the id of a topic follows from its name. */
    private void topics(JsonNode wanted) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        for (Map.Entry<String, JsonNode> entry : wanted.properties()) {
            Uuid id = topicId(entry.getKey());
            names.put(id, entry.getKey());
            TopicImage known = image.topics().getTopic(id);
            if (entry.getValue().asInt() == 0) {
                if (known != null) delta.replay(new RemoveTopicRecord().setTopicId(id));
                continue;
            }
            if (known == null) {
                delta.replay(new TopicRecord().setName(entry.getKey()).setTopicId(id));
            }
            for (int partition = known == null ? 0 : known.partitions().size();
                    partition < entry.getValue().asInt();
                    partition++) {
                delta.replay(
                        new PartitionRecord()
                                .setTopicId(id)
                                .setPartitionId(partition)
                                .setReplicas(List.of(0))
                                .setIsr(List.of(0))
                                .setLeader(0)
                                .setDirectories(List.of(new Uuid(0, 100))));
            }
        }
        image = delta.apply(new MetadataProvenance(++imageVersion, 0, clock.now, true));
        shard.onMetadataUpdate(
                new KRaftCoordinatorMetadataDelta(delta), new KRaftCoordinatorMetadataImage(image));
    }

    static Uuid topicId(String name) {
        Uuid given = givenTopicIds.get(name);
        if (given != null) return given;
        UUID id = UUID.nameUUIDFromBytes(("topic:" + name).getBytes(StandardCharsets.UTF_8));
        return new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    private void consumer(JsonNode in) {
        int asked = number;
        String assignor = text(in, "assignor");
        // The shard relies on its service for this.
        if (assignor != null
                && groupConfig.consumerGroupAssignors().stream()
                        .noneMatch(each -> each.name().equals(assignor))) {
            response(number, Errors.UNSUPPORTED_ASSIGNOR.exception(), 0);
            return;
        }
        ConsumerGroupHeartbeatRequestData request =
                new ConsumerGroupHeartbeatRequestData()
                        .setGroupId(GROUP)
                        .setMemberId(in.get("member").asText())
                        .setMemberEpoch(in.get("epoch").asInt())
                        .setInstanceId(text(in, "instance"))
                        .setRackId(text(in, "rack"))
                        .setSubscribedTopicRegex(text(in, "pattern"))
                        .setServerAssignor(assignor)
                        .setRebalanceTimeoutMs(in.get("rebalance").asInt());
        if (in.hasNonNull("topics")) {
            List<String> topics = new ArrayList<>();
            in.get("topics").forEach(topic -> topics.add(topic.asText()));
            request.setSubscribedTopicNames(topics);
        }
        if (in.hasNonNull("owned")) {
            List<ConsumerGroupHeartbeatRequestData.TopicPartitions> owned = new ArrayList<>();
            for (Map.Entry<String, JsonNode> entry : in.get("owned").properties()) {
                List<Integer> partitions = new ArrayList<>();
                entry.getValue().forEach(partition -> partitions.add(partition.asInt()));
                owned.add(
                        new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                                .setTopicId(topicId(entry.getKey()))
                                .setPartitions(partitions));
            }
            request.setTopicPartitions(owned);
        }
        Throwable thrown =
                step(
                        () -> shard.consumerGroupHeartbeat(client(in, 68, 1), request),
                        answer -> {
                            ObjectNode out = response(asked, null, answer.errorCode());
                            out.put("member", answer.memberId()).put("epoch", answer.memberEpoch());
                            if (answer.assignment() == null) return;
                            ObjectNode assigned = out.putObject("assignment");
                            answer.assignment()
                                    .topicPartitions()
                                    .forEach(
                                            each ->
                                                    sorted(
                                                            assigned.putArray(
                                                                    names.get(each.topicId())),
                                                            each.partitions()));
                        });
        if (thrown != null) response(number, thrown, 0);
    }

    private static void sorted(ArrayNode out, List<Integer> partitions) {
        partitions.stream().sorted().forEach(out::add);
    }

    private static Client client(JsonNode in, int key, int version) {
        return new Client(in.path("client").asText("c"), key, version);
    }

    static String text(JsonNode in, String name) {
        return in.hasNonNull(name) ? in.get(name).asText() : null;
    }

    private void join(JsonNode in) {
        JoinGroupRequestData request =
                new JoinGroupRequestData()
                        .setGroupId(GROUP)
                        .setMemberId(in.get("member").asText())
                        .setGroupInstanceId(text(in, "instance"))
                        .setProtocolType(in.get("type").asText())
                        .setSessionTimeoutMs(in.get("session").asInt())
                        .setRebalanceTimeoutMs(in.get("rebalance").asInt());
        for (JsonNode protocol : in.get("protocols")) {
            request.protocols()
                    .add(
                            new JoinGroupRequestData.JoinGroupRequestProtocol()
                                    .setName(protocol.get(0).asText())
                                    .setMetadata(bytes(protocol.get(1))));
        }
        int asked = number;
        CompletableFuture<JoinGroupResponseData> future = new CompletableFuture<>();
        future.whenComplete((response, error) -> joined(asked, response, error));
        Throwable thrown =
                step(
                        () ->
                                shard.classicGroupJoin(
                                        client(in, 11, in.path("version").asInt(9)),
                                        request,
                                        future,
                                        true),
                        future);
        if (thrown != null) future.completeExceptionally(thrown);
    }

    private void joined(int asked, JoinGroupResponseData response, Throwable error) {
        ObjectNode out = response(asked, error, response == null ? 0 : response.errorCode());
        if (response == null) return;
        out.put("member", response.memberId()).put("generation", response.generationId());
        out.put("protocol", orEmpty(response.protocolName())).put("leader", response.leader());
        out.put("skip", response.skipAssignment());
        ArrayNode members = out.putArray("members");
        response.members()
                .forEach(
                        member ->
                                members.addArray()
                                        .add(member.memberId())
                                        .add(member.groupInstanceId())
                                        .add(hex(member.metadata())));
    }

    private void sync(JsonNode in) {
        List<SyncGroupRequestData.SyncGroupRequestAssignment> plan = new ArrayList<>();
        for (JsonNode share : in.get("assignments")) {
            plan.add(
                    new SyncGroupRequestData.SyncGroupRequestAssignment()
                            .setMemberId(share.get(0).asText())
                            .setAssignment(bytes(share.get(1))));
        }
        SyncGroupRequestData request =
                new SyncGroupRequestData()
                        .setGroupId(GROUP)
                        .setMemberId(in.get("member").asText())
                        .setGroupInstanceId(text(in, "instance"))
                        .setGenerationId(in.get("generation").asInt())
                        .setProtocolType(text(in, "type"))
                        .setProtocolName(text(in, "protocol"))
                        .setAssignments(plan);
        int asked = number;
        CompletableFuture<SyncGroupResponseData> future = new CompletableFuture<>();
        future.whenComplete((response, error) -> synced(asked, response, error));
        Throwable thrown =
                step(() -> shard.classicGroupSync(client(in, 14, 5), request, future), future);
        if (thrown != null) future.completeExceptionally(thrown);
    }

    private void synced(int asked, SyncGroupResponseData response, Throwable error) {
        ObjectNode out = response(asked, error, response == null ? 0 : response.errorCode());
        if (response == null) return;
        out.put("protocol", orEmpty(response.protocolName()));
        out.put("assignment", hex(response.assignment()));
    }

    private void heartbeat(JsonNode in) {
        int asked = number;
        HeartbeatRequestData request =
                new HeartbeatRequestData()
                        .setGroupId(GROUP)
                        .setMemberId(in.get("member").asText())
                        .setGroupInstanceId(text(in, "instance"))
                        .setGenerationId(in.get("generation").asInt());
        Throwable thrown =
                step(
                        () -> shard.classicGroupHeartbeat(client(in, 12, 4), request),
                        answer -> response(asked, null, answer.errorCode()));
        if (thrown != null) response(number, thrown, 0);
    }

    private void leave(JsonNode in) {
        int asked = number;
        LeaveGroupRequestData request =
                new LeaveGroupRequestData()
                        .setGroupId(GROUP)
                        .setMembers(
                                List.of(
                                        new LeaveGroupRequestData.MemberIdentity()
                                                .setMemberId(in.get("member").asText())
                                                .setGroupInstanceId(text(in, "instance"))));
        Throwable thrown =
                step(
                        () -> shard.classicGroupLeave(client(in, 13, 5), request),
                        answer -> response(asked, null, left(answer)));
        if (thrown != null) response(number, thrown, 0);
    }

    private static int left(LeaveGroupResponseData answer) {
        return answer.errorCode() != 0 ? answer.errorCode() : answer.members().get(0).errorCode();
    }

    private void commit(JsonNode in) {
        int asked = number;
        long producer = in.path("producer").asLong(-1);
        Throwable thrown;
        if (producer == -1) {
            int version = in.path("version").asInt(10);
            thrown =
                    step(
                            () ->
                                    shard.commitOffset(
                                            client(in, 8, version), OffsetRequests.commit(GROUP, in)),
                            answer -> OffsetRequests.committed(response(asked, null, 0), answer));
        } else {
            this.producer = producer;
            thrown =
                    step(
                            () ->
                                    shard.commitTransactionalOffset(
                                            client(in, 28, 6),
                                            OffsetRequests.transactional(GROUP, in)),
                            answer -> OffsetRequests.committed(response(asked, null, 0), answer));
            this.producer = -1;
        }
        if (thrown != null) response(number, thrown, 0);
    }

    private void fetchOffsets(JsonNode in) {
        long until = in.get("stable").asBoolean() ? Long.MAX_VALUE : committed;
        try {
            var answer = shard.fetchOffsets(OffsetRequests.fetch(GROUP, in), until);
            OffsetRequests.fetched(response(number, null, answer.errorCode()), answer);
        } catch (Throwable thrown) {
            response(number, thrown, 0);
        }
    }

    private void deleteOffsets(JsonNode in) {
        int asked = number;
        Throwable thrown =
                step(
                        () ->
                                shard.deleteOffsets(
                                        client(in, 47, 0), OffsetRequests.delete(GROUP, in)),
                        answer ->
                                OffsetRequests.deleted(
                                        response(asked, null, answer.errorCode()), answer));
        if (thrown != null) response(number, thrown, 0);
    }

    /** The marker that the transaction's coordinator writes to the partition. */
    private void endTransaction(JsonNode in) {
        TransactionResult result =
                in.get("commit").asBoolean() ? TransactionResult.COMMIT : TransactionResult.ABORT;
        Written marker = new Written(written, in.get("producer").asLong(), null, result);
        marker.replayBy(state);
        log.add(marker);
        written++;
        writeBatch();
        if (waiting.isEmpty()) replicate(written);
    }

    /** What was appended since the last batch is in the local log, as one batch. */
    private void writeBatch() {
        state.updateLastWrittenOffset(written);
        inLog = written;
    }

    /** All up to the last of these appends is replicated; who waits for them goes on, in order. */
    private void committed(JsonNode appends) {
        List<Waiting> done = new ArrayList<>();
        for (JsonNode append : appends) done.add(waiting.remove(append.asInt()));
        done.removeIf(each -> each == null);
        long end = done.stream().mapToLong(Waiting::end).max().orElse(committed);
        replicate(waiting.isEmpty() ? written : end);
        for (Waiting each : done) {
            if (each.future != null) each.future.complete(null);
            each.then.run();
        }
    }

    /** The coordinator is lost, and with it these appends and all that waits. */
    private void lose(JsonNode appends) throws Throwable {
        for (JsonNode lost : appends) {
            Waiting append = waiting.get(lost.asInt());
            if (append != null) log.removeAll(append.batch);
        }
        if (writesBatches) unload();
        forget();
    }

    private void forget() {
        timers.running.clear();
        tasks.waiting.clear();
        waiting.clear();
    }

    /**
     * As `CoordinatorRuntime.unload` does: what is in the local log fails, then the batch that is
     * not, then all who wait for others. Of these answers a client looks at nothing but the error.
     */
    private void unload() throws Throwable {
        List<Waiting> all = List.copyOf(waiting.values());
        for (Waiting each : all) if (each.end() <= inLog) fail(each, Errors.NOT_COORDINATOR);
        List<Waiting> batch = List.copyOf(waiting.values());
        revertTo(inLog);
        for (Waiting each : batch) fail(each, Errors.NOT_COORDINATOR);
        shard.onUnloaded();
        keepErrors();
        written = committed;
        inLog = committed;
    }

    private void keepErrors() {
        responses.forEach(each -> ((ObjectNode) each).retain("number", "error"));
    }

    private void fail(Waiting lost, Errors error) {
        waiting.values().remove(lost);
        if (lost.future != null) lost.future.completeExceptionally(error.exception());
        lost.otherwise.accept(answered(error).exception());
    }

    /** The error that the service answers with where an operation ends with this one. */
    private static Errors answered(Errors error) {
        return CoordinatorOperationExceptionHelper.handleOperationException(
                "an operation", "", error.exception(), (found, message) -> found, LOG);
    }

    /** The next coordinator: what waited at the last one is lost, as are some records if asked. */
    private void reload(JsonNode in) {
        forget();
        List<Written> left = new ArrayList<>();
        if (in.hasNonNull("keep")) in.get("keep").forEach(at -> left.add(log.get(at.asInt())));
        else left.addAll(log);
        load(left);
    }

    private void runTasks() throws Throwable {
        List<Task<?>> due = List.copyOf(tasks.waiting.values());
        tasks.waiting.clear();
        for (Task<?> task : due) run(task);
    }

    private <R> void run(Task<R> task) throws Throwable {
        R result = task.task().run();
        Throwable thrown =
                step(() -> task.then().onComplete(result, null), nothing -> {}, lost -> {});
        if (thrown != null) throw thrown;
    }

    private void advance(long ms) throws Throwable {
        long until = clock.now + ms;
        for (Due due = timers.next(until); due != null; due = timers.next(until)) fire(due);
        clock.now = until;
    }

    /** The history says what fires at this time; what should have before fires now. */
    private void comeTo(long now) throws Throwable {
        if (isOnTime) {
            for (Due due = timers.next(now - 1); due != null; due = timers.next(now - 1)) fire(due);
        }
        clock.now = now;
    }

    /** A timer fires that the history names; nothing happens if that is not due. */
    private void fire(String timer, String member) throws Throwable {
        String key =
                switch (timer) {
                    case "offsets" -> "expire-group-metadata";
                    case "join-barrier" -> "join-" + GROUP;
                    case "sync-barrier" -> "sync-" + GROUP;
                    default -> timer + "-" + GROUP + "-" + member;
                };
        Due due = timers.running.get(key);
        if (due != null && due.at <= clock.now) fire(due);
    }

    private void fire(Due due) throws Throwable {
        timers.cancel(due.key);
        clock.now = Math.max(clock.now, due.at);
        Throwable thrown =
                step(due.operation::generateRecords, nothing -> {}, lost -> timers.again(due));
        // Kafka's runtime logs what a timer throws, and goes on.
        if (thrown != null && due.retry) throw thrown;
    }

    private void replicate(long end) {
        committed = Math.max(committed, end);
        state.updateLastCommittedOffset(committed);
    }

    private void replicated(int append) {
        Waiting done = waiting.remove(append);
        if (done == null) return;
        replicate(waiting.isEmpty() ? written : done.end());
        if (done.future != null) done.future.complete(null);
        done.then.run();
    }

    /** Appends that are not written: the state goes back to what is, and who waits is told so. */
    private void failed(JsonNode appends) throws Throwable {
        List<Waiting> gone = new ArrayList<>();
        for (JsonNode append : appends) gone.add(waiting.remove(append.asInt()));
        gone.removeIf(each -> each == null);
        for (Waiting each : gone) {
            written = Math.min(written, each.from);
            log.removeAll(each.batch);
        }
        revertTo(written);
        for (Waiting each : gone) fail(each, Errors.NOT_ENOUGH_REPLICAS);
        if (writesBatches) keepErrors();
    }

    private void revertTo(long offset) throws Throwable {
        Method revert =
                SnapshottableCoordinator.class.getDeclaredMethod(
                        "revertLastWrittenOffset", long.class);
        revert.setAccessible(true);
        revert.invoke(state, offset);
    }

    /** A request, which is answered with the error if its records are not written. */
    private <T> Throwable step(Step<T> step, Consumer<T> then) {
        int asked = number;
        return step(step, then, thrown -> refuse(asked, thrown));
    }

    /** One whose answer is a future: that may have come before its records fail. */
    private <T> Throwable step(Step<T> step, CompletableFuture<?> future) {
        return step(
                step,
                nothing -> {},
                thrown -> {
                    if (writesBatches) future.completeExceptionally(thrown);
                });
    }

    /** Other histories do not say what the service answers. */
    private void refuse(int asked, Throwable thrown) {
        if (writesBatches) response(asked, thrown, 0);
    }

    /** Generate, replay and write the records, then let what waits for them go on. */
    private <T> Throwable step(Step<T> step, Consumer<T> then, Consumer<Throwable> otherwise) {
        CoordinatorResult<T, CoordinatorRecord> result;
        try {
            result = step.run();
        } catch (Throwable thrown) {
            return thrown;
        }
        List<Written> batch = new ArrayList<>();
        long from = written;
        for (CoordinatorRecord record : result.records()) {
            note(record);
            Written each = new Written(written, producer, record, null);
            if (result.replayRecords()) each.replayBy(state);
            batch.add(each);
            written++;
        }
        batch.sort(Comparator.comparing(Written::record, OffsetRequests.IN_ONE_ORDER));
        log.addAll(batch);
        if (!batch.isEmpty() && !writesBatches) writeBatch();
        if (replicatesLater && !batch.isEmpty()) {
            Runnable answer = () -> then.accept(result.response());
            waiting.put(
                    appends++, new Waiting(from, batch, result.appendFuture(), answer, otherwise));
            return null;
        }
        if (!batch.isEmpty()) replicate(written);
        if (result.appendFuture() != null) result.appendFuture().complete(null);
        then.accept(result.response());
        return null;
    }

    private void note(CoordinatorRecord record) {
        ObjectNode out = records.addObject();
        Object value = record.value() == null ? null : record.value().message();
        switch (record.key().apiKey()) {
            case 1 ->
                    OffsetRequests.record(
                            out, (OffsetCommitKey) record.key(), (OffsetCommitValue) value, START);
            case 2 -> classic(out, (GroupMetadataValue) value);
            case 3 -> {
                out.put("type", 3);
                if (value == null) break;
                out.put("epoch", ((ConsumerGroupMetadataValue) value).epoch());
            }
            case 4 -> out.put("type", 4);
            case 5 -> {
                String id = ((ConsumerGroupMemberMetadataKey) record.key()).memberId();
                out.put("type", 5).put("member", id);
                if (value == null) break;
                ConsumerGroupMemberMetadataValue member = (ConsumerGroupMemberMetadataValue) value;
                out.put("instance", member.instanceId());
                out.put("rebalance", member.rebalanceTimeoutMs());
                ArrayNode topics = out.putArray("topics");
                member.subscribedTopicNames().stream().sorted().forEach(topics::add);
                out.put("client", member.clientId()).put("rack", member.rackId());
                out.put("pattern", member.subscribedTopicRegex());
                out.put("assignor", member.serverAssignor());
                classicMember(out, member.classicMemberMetadata());
            }
            case 6 -> {
                out.put("type", 6);
                if (value == null) break;
                ConsumerGroupTargetAssignmentMetadataValue target =
                        (ConsumerGroupTargetAssignmentMetadataValue) value;
                long at = target.assignmentTimestamp();
                out.put("epoch", target.assignmentEpoch());
                out.put("at", at == 0 ? 0 : at - START);
            }
            case 7 -> {
                String id = ((ConsumerGroupTargetAssignmentMemberKey) record.key()).memberId();
                out.put("type", 7).put("member", id);
                if (value == null) break;
                ObjectNode partitions = out.putObject("partitions");
                ((ConsumerGroupTargetAssignmentMemberValue) value)
                        .topicPartitions()
                        .forEach(
                                each ->
                                        sorted(
                                                partitions.putArray(names.get(each.topicId())),
                                                each.partitions()));
            }
            case 8 -> {
                String id = ((ConsumerGroupCurrentMemberAssignmentKey) record.key()).memberId();
                out.put("type", 8).put("member", id);
                current(out, (ConsumerGroupCurrentMemberAssignmentValue) value);
            }
            case 16 -> {
                String pattern = ((ConsumerGroupRegularExpressionKey) record.key()).regularExpression();
                out.put("type", 16).put("pattern", pattern);
                if (value == null) break;
                ConsumerGroupRegularExpressionValue found =
                        (ConsumerGroupRegularExpressionValue) value;
                ArrayNode topics = out.putArray("topics");
                found.topics().stream().sorted().forEach(topics::add);
                out.put("version", found.version()).put("at", found.timestamp() - START);
            }
            default -> throw new IllegalArgumentException(record.toString());
        }
    }

    private static void classicMember(
            ObjectNode out, ConsumerGroupMemberMetadataValue.ClassicMemberMetadata classic) {
        if (classic == null) return;
        out.put("session", classic.sessionTimeoutMs());
        ArrayNode protocols = out.putArray("protocols");
        classic.supportedProtocols()
                .forEach(each -> protocols.addArray().add(each.name()).add(hex(each.metadata())));
    }

    private void current(ObjectNode out, ConsumerGroupCurrentMemberAssignmentValue value) {
        if (value == null) return;
        out.put("epoch", value.memberEpoch()).put("previous", value.previousMemberEpoch());
        out.put("state", (int) value.state());
        epochs(out.putObject("assigned"), value.assignedPartitions());
        epochs(out.putObject("revoking"), value.partitionsPendingRevocation());
    }

    /** By topic: partition and the epoch in which the member got it. */
    private void epochs(
            ObjectNode out, List<ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions> held) {
        for (ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions each : held) {
            Map<Integer, Integer> sorted = new TreeMap<>();
            for (int i = 0; i < each.partitions().size(); i++) {
                sorted.put(each.partitions().get(i), each.assignmentEpochs().get(i));
            }
            ArrayNode listed = out.putArray(names.get(each.topicId()));
            sorted.forEach((partition, epoch) -> listed.addArray().add(partition).add(epoch));
        }
    }

    private static void classic(ObjectNode out, GroupMetadataValue value) {
        if (value == null) {
            out.put("type", 2);
            return;
        }
        out.put("generation", value.generation()).put("protocol", value.protocol());
        out.put("leader", value.leader()).put("type", value.protocolType());
        out.put("since", value.currentStateTimestamp() - START);
        ArrayNode members = out.putArray("members");
        value.members()
                .forEach(
                        member ->
                                members.addArray()
                                        .add(member.memberId())
                                        .add(member.groupInstanceId())
                                        .add(member.clientId())
                                        .add(member.sessionTimeout())
                                        .add(member.rebalanceTimeout())
                                        .add(hex(member.subscription()))
                                        .add(hex(member.assignment())));
    }

    private ObjectNode response(int asked, Throwable thrown, int code) {
        int error = thrown == null ? code : Errors.forException(thrown).code();
        return responses.addObject().put("number", asked).put("error", error);
    }

    /** Where there is no protocol, some answers have none and some an empty one. */
    private static String orEmpty(String name) {
        return name == null ? "" : name;
    }

    private static byte[] bytes(JsonNode hex) {
        return HexFormat.of().parseHex(hex.asText());
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
