import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Java's client as a program under test, from 2.4 on: compiled against 2.4.1, run with any version.
 *
 * <p>Assignors are called through their public interface, ConsumerPartitionAssignor. Bytes are read
 * and written by ConsumerProtocol, which is internal but is what the consumer itself calls; what a
 * leader reads from a member by memberData, which is protected. What a version does not have
 * (generation and rack of a Subscription) it is not asked for.
 */
public final class JavaDriver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final short NEWEST = 3;
    private static final Constructor<?> WITH_ALL_FIELDS = constructor(5);

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode in = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            answer.set("id", in.get("id"));
            try {
                ObjectNode out = JSON.createObjectNode();
                if (ask(in, out)) answer.set("out", out);
                else answer.put("skip", "the client has no " + in.get("algo").asText());
            } catch (Throwable thrown) { // an Error of Kafka's classes is an answer like any other
                ObjectNode error = answer.putObject("error");
                error.put("exception", thrown.getClass().getSimpleName());
                error.put("text", String.valueOf(thrown));
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static boolean ask(JsonNode in, ObjectNode out) throws Throwable {
        switch (in.get("algo").asText()) {
            case "range": assign(new RangeAssignor(), in, out); return true;
            case "roundrobin": assign(new RoundRobinAssignor(), in, out); return true;
            case "sticky": assign(new StickyAssignor(), in, out); return true;
            case "coop": assign(new CooperativeStickyAssignor(), in, out); return true;
            case "codec-sub": readSubscription(in, out); return true;
            case "codec-asg": readAssignment(in, out); return true;
            case "codec-mksub": writeSubscription(in, out); return true;
            case "codec-mkasg": writeAssignment(in, out); return true;
            case "codec-stickyud": writeUserData(new StickyAssignor(), in, out); return true;
            case "codec-coopud": writeUserData(new CooperativeStickyAssignor(), in, out); return true;
            case "codec-mdsticky": readMember(new StickyAssignor(), in, out); return true;
            case "codec-mdcoop": readMember(new CooperativeStickyAssignor(), in, out); return true;
            default: return false;
        }
    }

    private static void assign(ConsumerPartitionAssignor assignor, JsonNode in, ObjectNode out) {
        Map<String, Subscription> members = new HashMap<>();
        for (JsonNode member : in.get("members")) {
            Subscription read =
                    member.hasNonNull("subscription")
                            ? ConsumerProtocol.deserializeSubscription(bytes(member, "subscription"))
                            : subscription(member, "sgen");
            read.setGroupInstanceId(Optional.ofNullable(text(member, "instance")));
            members.put(text(member, "id"), read);
        }
        ObjectNode lists = out.putObject("assignment");
        assignor.assign(cluster(in.get("topics")), new GroupSubscription(members))
                .groupAssignment()
                .forEach((id, given) -> pairs(lists.putArray(id), given.partitions()));
    }

    private static Cluster cluster(JsonNode topics) {
        List<PartitionInfo> infos = new ArrayList<>();
        for (Iterator<Map.Entry<String, JsonNode>> each = topics.fields(); each.hasNext(); ) {
            Map.Entry<String, JsonNode> topic = each.next();
            int number = 0;
            for (JsonNode racks : topic.getValue()) {
                Node[] replicas = new Node[racks.size()];
                for (int i = 0; i < replicas.length; i++) {
                    replicas[i] = new Node(i, "", 0, racks.get(i).textValue());
                }
                infos.add(new PartitionInfo(topic.getKey(), number++, null, replicas, replicas));
            }
        }
        return new Cluster(
                "", Collections.emptyList(), infos, Collections.emptySet(), Collections.emptySet());
    }

    private static void readSubscription(JsonNode in, ObjectNode out) throws Exception {
        Subscription read = ConsumerProtocol.deserializeSubscription(bytes(in, "hex"));
        ArrayNode topics = out.putArray("topics");
        read.topics().forEach(topics::add);
        out.put("ud", hex(read.userData()));
        pairs(out.putArray("owned"), read.ownedPartitions());
        if (WITH_ALL_FIELDS == null) {
            out.putArray("unseen").add("gen").add("rack");
            return;
        }
        Method generation = Subscription.class.getMethod("generationId");
        Method rack = Subscription.class.getMethod("rackId");
        out.put("gen", ((Optional<?>) generation.invoke(read)).map(Integer.class::cast).orElse(-1));
        out.put("rack", ((Optional<?>) rack.invoke(read)).map(String.class::cast).orElse(null));
    }

    private static void readAssignment(JsonNode in, ObjectNode out) {
        Assignment read = ConsumerProtocol.deserializeAssignment(bytes(in, "hex"));
        pairs(out.putArray("owned"), read.partitions());
        out.put("ud", hex(read.userData()));
    }

    private static void writeSubscription(JsonNode in, ObjectNode out) {
        for (short version = 0; version <= NEWEST; version++) {
            put(out, version, ConsumerProtocol.serializeSubscription(subscription(in, "gen"), version));
        }
    }

    private static void writeAssignment(JsonNode in, ObjectNode out) {
        for (short version = 0; version <= NEWEST; version++) {
            Assignment assignment = new Assignment(partitions(in), bytes(in, "ud"));
            put(out, version, ConsumerProtocol.serializeAssignment(assignment, version));
        }
    }

    /** An older client writes its newest version where a newer one is asked for. */
    private static void put(ObjectNode out, short version, ByteBuffer written) {
        if (written.getShort(written.position()) == version) out.put("v" + version, hex(written));
    }

    private static void writeUserData(
            ConsumerPartitionAssignor assignor, JsonNode in, ObjectNode out) {
        if (in.hasNonNull("gen")) {
            ConsumerGroupMetadata metadata =
                    new ConsumerGroupMetadata("g", in.get("gen").intValue(), "m", Optional.empty());
            assignor.onAssignment(new Assignment(partitions(in)), metadata);
        }
        out.put("ud", hex(assignor.subscriptionUserData(Collections.emptySet())));
    }

    private static void readMember(AbstractStickyAssignor assignor, JsonNode in, ObjectNode out)
            throws Throwable {
        Method method =
                AbstractStickyAssignor.class.getDeclaredMethod("memberData", Subscription.class);
        method.setAccessible(true);
        AbstractStickyAssignor.MemberData read;
        try {
            read = (AbstractStickyAssignor.MemberData) method.invoke(assignor, subscription(in, "gen"));
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
        pairs(out.putArray("owned"), read.partitions);
        out.put("gen", read.generation.orElse(-1));
    }

    private static Subscription subscription(JsonNode in, String generation) {
        List<String> topics = new ArrayList<>();
        for (JsonNode topic : in.path("topics")) topics.add(topic.textValue());
        if (WITH_ALL_FIELDS == null) return new Subscription(topics, bytes(in, "ud"), partitions(in));
        int number = in.hasNonNull(generation) ? in.get(generation).intValue() : -1;
        Optional<String> rack = Optional.ofNullable(text(in, "rack"));
        try {
            return (Subscription)
                    WITH_ALL_FIELDS.newInstance(
                            topics, bytes(in, "ud"), partitions(in), number, rack);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Constructor<?> constructor(int parameters) {
        for (Constructor<?> each : Subscription.class.getConstructors()) {
            if (each.getParameterCount() == parameters) return each;
        }
        return null;
    }

    private static List<TopicPartition> partitions(JsonNode in) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (JsonNode pair : in.path("owned")) {
            partitions.add(new TopicPartition(pair.get(0).textValue(), pair.get(1).intValue()));
        }
        return partitions;
    }

    private static void pairs(ArrayNode out, List<TopicPartition> partitions) {
        for (TopicPartition each : partitions) {
            out.addArray().add(each.topic()).add(each.partition());
        }
    }

    private static String text(JsonNode in, String field) {
        return in.hasNonNull(field) ? in.get(field).textValue() : null;
    }

    private static ByteBuffer bytes(JsonNode in, String field) {
        String digits = text(in, field);
        if (digits == null) return null;
        ByteBuffer bytes = ByteBuffer.allocate(digits.length() / 2);
        for (int at = 0; at < digits.length(); at += 2) {
            bytes.put((byte) Integer.parseInt(digits.substring(at, at + 2), 16));
        }
        bytes.flip();
        return bytes;
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) return null;
        StringBuilder digits = new StringBuilder();
        for (ByteBuffer left = buffer.duplicate(); left.hasRemaining(); ) {
            digits.append(String.format("%02x", left.get()));
        }
        return digits.toString();
    }

    private JavaDriver() {}
}
