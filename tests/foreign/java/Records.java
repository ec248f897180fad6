import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Records of __consumer_offsets: bytes to the JSON form of their fields, and back. */
final class Records {
    static void encode(JsonNode in, ObjectNode out) {
        short type = (short) in.get("type").intValue();
        ApiMessage key = CoordinatorRecordJsonConverters.readRecordKeyFromJson(in.get("key"), type);
        CoordinatorRecord record;
        if (in.hasNonNull("value")) {
            short version = (short) in.get("version").intValue();
            ApiMessage value =
                    CoordinatorRecordJsonConverters.readRecordValueFromJson(
                            in.get("value"), type, version);
            record = CoordinatorRecord.record(key, new ApiMessageAndVersion(value, version));
        } else {
            record = CoordinatorRecord.tombstone(key);
        }
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        out.put("key", hex(serde.serializeKey(record)));
        out.put("value", hex(serde.serializeValue(record)));
    }

    static void decode(JsonNode in, ObjectNode out) {
        ByteBuffer key = In.bytes(in, "key");
        ByteBuffer value = In.bytes(in, "value");
        CoordinatorRecord record = new GroupCoordinatorRecordSerde().deserialize(key, value);
        short type = record.key().apiKey();
        out.put("type", type);
        out.put("name", CoordinatorRecordType.fromId(type).name());
        out.set("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()));
        if (record.value() == null) {
            out.putNull("value");
            return;
        }
        short version = record.value().version();
        out.put("version", version);
        out.set(
                "value",
                CoordinatorRecordJsonConverters.writeRecordValueAsJson(
                        record.value().message(), version));
        out.put("rest", value.remaining());
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    private Records() {}
}
