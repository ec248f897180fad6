import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;

/** The bytes of the consumer protocol and of the sticky assignors' UserData, both ways. */
final class Codecs {
    private static final short NEWEST = 3;

    static void encodeSubscription(JsonNode in, ObjectNode out) {
        for (short version = 0; version <= NEWEST; version++) {
            Subscription subscription =
                    new Subscription(
                            In.texts(in, "topics"),
                            In.bytes(in, "ud"),
                            In.partitions(in, "owned"),
                            In.number(in, "gen", -1),
                            In.maybeText(in, "rack"));
            put(out, version, ConsumerProtocol.serializeSubscription(subscription, version));
        }
    }

    static void encodeAssignment(JsonNode in, ObjectNode out) {
        for (short version = 0; version <= NEWEST; version++) {
            Assignment assignment = new Assignment(In.partitions(in, "owned"), In.bytes(in, "ud"));
            put(out, version, ConsumerProtocol.serializeAssignment(assignment, version));
        }
    }

    static void decodeSubscription(JsonNode in, ObjectNode out) {
        Subscription read = ConsumerProtocol.deserializeSubscription(In.bytes(in, "hex"));
        out.put("str", read.toString());
        out.put("ud", In.hex(read.userData()));
        for (short version = 0; version <= NEWEST; version++) {
            put(out, version, ConsumerProtocol.serializeSubscription(read, version));
        }
    }

    static void decodeAssignment(JsonNode in, ObjectNode out) {
        Assignment read = ConsumerProtocol.deserializeAssignment(In.bytes(in, "hex"));
        out.put("str", read.toString());
        out.put("ud", In.hex(read.userData()));
        for (short version = 0; version <= NEWEST; version++) {
            put(out, version, ConsumerProtocol.serializeAssignment(read, version));
        }
    }

    /** What a member sends after it was told an assignment; without generation, before any. */
    static void stickyUserData(JsonNode in, ObjectNode out) {
        out.put("ud", userData(new StickyAssignor(), in));
    }

    static void cooperativeUserData(JsonNode in, ObjectNode out) {
        out.put("ud", userData(new CooperativeStickyAssignor(), in));
    }

    @SuppressWarnings("removal") // the constructor is still the only one
    private static String userData(AbstractPartitionAssignor assignor, JsonNode in) {
        if (in.hasNonNull("gen")) {
            assignor.onAssignment(
                    new Assignment(In.partitions(in, "owned")),
                    new ConsumerGroupMetadata(
                            "group", in.get("gen").intValue(), "member", Optional.empty()));
        }
        return In.hex(assignor.subscriptionUserData(Set.of()));
    }

    /** What the leader's assignor reads from a member's subscription. */
    static void memberData(String algorithm, JsonNode in, ObjectNode out) throws Throwable {
        AbstractStickyAssignor assignor =
                algorithm.equals("codec-mdsticky")
                        ? new StickyAssignor()
                        : new CooperativeStickyAssignor();
        Method read =
                AbstractStickyAssignor.class.getDeclaredMethod("memberData", Subscription.class);
        read.setAccessible(true);
        Subscription subscription =
                new Subscription(
                        In.texts(in, "topics"),
                        In.bytes(in, "ud"),
                        In.partitions(in, "owned"),
                        In.number(in, "gen", -1),
                        Optional.empty());
        try {
            var data = (AbstractStickyAssignor.MemberData) read.invoke(assignor, subscription);
            out.put("partitions", data.partitions.toString());
            out.put("generation", data.generation.toString());
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }

    private static void put(ObjectNode out, short version, ByteBuffer bytes) {
        out.put("v" + version, In.hex(bytes));
    }

    private Codecs() {}
}
