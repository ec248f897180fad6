// Sarama as a program under test: its message codecs and its four strategies.
package main

import (
	"fmt"

	"foreign/kit"

	"github.com/IBM/sarama"
)

func main() { kit.Serve(work) }

func work(asked kit.Request) (any, error) {
	switch asked.Algorithm {
	case "range", "roundrobin", "sticky", "coop":
		return assign(asked)
	case "codec-sub":
		return readSubscription(asked)
	case "codec-asg":
		return readAssignment(asked)
	case "codec-mksub":
		return writeSubscription(asked)
	case "codec-mkasg":
		return writeAssignment(asked)
	case "codec-stickyud", "codec-coopud":
		return writeUserData(asked)
	}
	return nil, kit.Skip("Sarama has no public " + asked.Algorithm)
}

func strategy(name string) sarama.BalanceStrategy {
	switch name {
	case "range":
		return sarama.NewBalanceStrategyRange()
	case "roundrobin":
		return sarama.NewBalanceStrategyRoundRobin()
	case "sticky", "codec-stickyud":
		return sarama.NewBalanceStrategySticky()
	}
	return sarama.NewBalanceStrategyCooperativeSticky()
}

// The bytes of all members are read at once, as the leader gets them: one that cannot be read
// fails the group.
func assign(asked kit.Request) (any, error) {
	counts, err := asked.Counts()
	if err != nil {
		return nil, err
	}
	joined := sarama.JoinGroupResponse{}
	for _, member := range asked.Members {
		blob := []byte(member.Subscription)
		if blob == nil {
			if blob, err = subscription(3, member.Topics, member.Owned, member.UserData,
				kit.Number(member.Generation), member.Rack); err != nil {
				return nil, err
			}
		}
		joined.Members = append(joined.Members, sarama.GroupMember{
			MemberId: member.ID, GroupInstanceId: member.Instance, Metadata: blob})
	}
	members, err := joined.GetMembers()
	if err != nil {
		return nil, err
	}
	topics := map[string][]int32{}
	for _, member := range members {
		for _, topic := range member.Topics {
			if count, ok := counts[topic]; ok && topics[topic] == nil {
				topics[topic] = []int32{}
				for number := int32(0); number < count; number++ {
					topics[topic] = append(topics[topic], number)
				}
			}
		}
	}
	plan, err := strategy(asked.Algorithm).Plan(members, topics)
	if err != nil {
		return nil, err
	}
	assignment := map[string][]kit.Pair{}
	for _, member := range asked.Members {
		// A member without an entry is sent nothing, which Sarama and the broker take for empty.
		assignment[member.ID] = kit.Flat(plan[member.ID])
	}
	for member, partitions := range plan {
		assignment[member] = kit.Flat(partitions)
	}
	return map[string]any{"assignment": assignment}, nil
}

func subscription(version int16, topics []string, owned []kit.Pair, userData []byte,
	generation int32, rack *string) ([]byte, error) {
	metadata := sarama.ConsumerGroupMemberMetadata{Version: version, Topics: topics,
		UserData: userData, GenerationID: generation, RackID: rack}
	grouped := kit.ByTopic(owned)
	for _, topic := range kit.Sorted(grouped) {
		metadata.OwnedPartitions = append(metadata.OwnedPartitions,
			&sarama.OwnedPartition{Topic: topic, Partitions: grouped[topic]})
	}
	request := sarama.JoinGroupRequest{}
	if err := request.AddGroupProtocolMetadata("any", &metadata); err != nil {
		return nil, err
	}
	return request.OrderedGroupProtocols[0].Metadata, nil
}

func readSubscription(asked kit.Request) (any, error) {
	joined := sarama.JoinGroupResponse{
		Members: []sarama.GroupMember{{MemberId: "m", Metadata: asked.Hex}}}
	members, err := joined.GetMembers()
	if err != nil {
		return nil, err
	}
	read := members["m"]
	owned := []kit.Pair{}
	for _, entry := range read.OwnedPartitions {
		for _, number := range entry.Partitions {
			owned = append(owned, kit.Pair{Topic: entry.Topic, Number: number})
		}
	}
	generation := read.GenerationID
	if read.Version < 2 {
		generation = -1 // Go's zero stands there, which Sarama looks at from version 2 on
	}
	return map[string]any{
		"topics": append([]string{}, read.Topics...), "ud": kit.Hex(read.UserData),
		"owned": owned, "gen": generation, "rack": read.RackID,
	}, nil
}

func readAssignment(asked kit.Request) (any, error) {
	synced := sarama.SyncGroupResponse{MemberAssignment: asked.Hex}
	read, err := synced.GetMemberAssignment()
	if err != nil {
		return nil, err
	}
	return map[string]any{"owned": kit.Flat(read.Topics), "ud": kit.Hex(read.UserData)}, nil
}

func writeSubscription(asked kit.Request) (any, error) {
	topics, err := asked.Names()
	if err != nil {
		return nil, err
	}
	written := map[string]kit.Hex{}
	for version := int16(0); version <= 3; version++ {
		blob, err := subscription(version, topics, asked.Owned, asked.UserData,
			kit.Number(asked.Generation), asked.Rack)
		if err != nil {
			return nil, err
		}
		written[fmt.Sprintf("v%d", version)] = blob
	}
	return written, nil
}

func writeAssignment(asked kit.Request) (any, error) {
	written := map[string]kit.Hex{}
	for version := int16(0); version <= 3; version++ {
		request := sarama.SyncGroupRequest{}
		if err := request.AddGroupAssignmentMember("m", &sarama.ConsumerGroupMemberAssignment{
			Version: version, Topics: kit.ByTopic(asked.Owned), UserData: asked.UserData,
		}); err != nil {
			return nil, err
		}
		written[fmt.Sprintf("v%d", version)] = request.GroupAssignments[0].Assignment
	}
	return written, nil
}

// The eager member echoes what the leader gave it as the assignment's user data; the
// cooperative one writes its own.
func writeUserData(asked kit.Request) (any, error) {
	chosen := strategy(asked.Algorithm)
	partitions, generation := kit.ByTopic(asked.Owned), kit.Number(asked.Generation)
	if writer, ok := chosen.(sarama.SubscriptionUserDataBalanceStrategy); ok {
		if observer, ok := chosen.(sarama.OnAssignmentBalanceStrategy); ok && asked.Generation != nil {
			observer.OnAssignment(
				&sarama.ConsumerGroupMemberAssignment{Topics: partitions}, generation)
		}
		blob, err := writer.SubscriptionUserData([]string{"t"})
		return map[string]any{"ud": kit.Hex(blob)}, err
	}
	blob, err := chosen.AssignmentData("m", partitions, generation)
	return map[string]any{"ud": kit.Hex(blob)}, err
}
