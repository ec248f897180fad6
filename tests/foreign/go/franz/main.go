// franz-go as a program under test: its message codecs and its four balancers.
package main

import (
	"fmt"

	"foreign/kit"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
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
	case "codec-mdsticky":
		return readSticky(asked)
	case "codec-mksub":
		return writeSubscription(asked)
	case "codec-mkasg":
		return writeAssignment(asked)
	case "codec-stickyud", "codec-coopud":
		return writeUserData(asked)
	}
	return nil, kit.Skip("franz-go has no public " + asked.Algorithm)
}

func balancer(name string) kgo.GroupBalancer {
	switch name {
	case "range":
		return kgo.RangeBalancer()
	case "roundrobin":
		return kgo.RoundRobinBalancer()
	case "sticky", "codec-stickyud":
		return kgo.StickyBalancer()
	}
	return kgo.CooperativeStickyBalancer()
}

func assign(asked kit.Request) (any, error) {
	counts, err := asked.Counts()
	if err != nil {
		return nil, err
	}
	kit.SortMembers(asked.Members)
	members := []kmsg.JoinGroupResponseMember{}
	for _, member := range asked.Members {
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID, joined.InstanceID = member.ID, member.Instance
		joined.ProtocolMetadata = member.Subscription
		if member.Subscription == nil {
			joined.ProtocolMetadata = subscription(3, member.Topics, member.Owned,
				member.UserData, kit.Number(member.Generation), member.Rack).AppendTo(nil)
		}
		members = append(members, joined)
	}
	chosen := balancer(asked.Algorithm)
	balancing, topics, err := chosen.MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	known := map[string]int32{}
	for topic := range topics {
		if count, ok := counts[topic]; ok {
			known[topic] = count
		}
	}
	var plan kgo.IntoSyncAssignment
	if failing, ok := balancing.(kgo.GroupMemberBalancerOrError); ok {
		if plan, err = failing.BalanceOrError(known); err != nil {
			return nil, err
		}
	} else {
		plan = balancing.Balance(known)
	}
	assignment := map[string][]kit.Pair{}
	for _, given := range plan.IntoSyncAssignment() {
		partitions, err := chosen.ParseSyncAssignment(given.MemberAssignment)
		if err != nil {
			return nil, err
		}
		assignment[given.MemberID] = kit.Flat(partitions)
	}
	return map[string]any{"assignment": assignment}, nil
}

func subscription(version int16, topics []string, owned []kit.Pair, userData []byte,
	generation int32, rack *string) *kmsg.ConsumerMemberMetadata {
	written := kmsg.NewConsumerMemberMetadata()
	written.Version, written.Topics, written.UserData = version, topics, userData
	written.Generation, written.Rack = generation, rack
	grouped := kit.ByTopic(owned)
	for _, topic := range kit.Sorted(grouped) {
		entry := kmsg.NewConsumerMemberMetadataOwnedPartition()
		entry.Topic, entry.Partitions = topic, grouped[topic]
		written.OwnedPartitions = append(written.OwnedPartitions, entry)
	}
	return &written
}

func readSubscription(asked kit.Request) (any, error) {
	var read kmsg.ConsumerMemberMetadata
	if err := read.ReadFrom(asked.Hex); err != nil {
		return nil, err
	}
	owned := []kit.Pair{}
	for _, entry := range read.OwnedPartitions {
		for _, number := range entry.Partitions {
			owned = append(owned, kit.Pair{Topic: entry.Topic, Number: number})
		}
	}
	return map[string]any{
		"topics": append([]string{}, read.Topics...), "ud": kit.Hex(read.UserData),
		"owned": owned, "gen": read.Generation, "rack": read.Rack,
	}, nil
}

func readAssignment(asked kit.Request) (any, error) {
	var read kmsg.ConsumerMemberAssignment
	if err := read.ReadFrom(asked.Hex); err != nil {
		return nil, err
	}
	owned := []kit.Pair{}
	for _, entry := range read.Topics {
		for _, number := range entry.Partitions {
			owned = append(owned, kit.Pair{Topic: entry.Topic, Number: number})
		}
	}
	return map[string]any{"owned": owned, "ud": kit.Hex(read.UserData)}, nil
}

// What cannot be read is no history: so the sticky balancer takes it.
func readSticky(asked kit.Request) (any, error) {
	owned, generation := []kit.Pair{}, int32(-1)
	var read kmsg.StickyMemberMetadata
	if asked.UserData != nil && read.ReadFrom(asked.UserData) == nil {
		generation = read.Generation
		for _, entry := range read.CurrentAssignment {
			for _, number := range entry.Partitions {
				owned = append(owned, kit.Pair{Topic: entry.Topic, Number: number})
			}
		}
	}
	return map[string]any{"owned": owned, "gen": generation}, nil
}

func writeSubscription(asked kit.Request) (any, error) {
	topics, err := asked.Names()
	if err != nil {
		return nil, err
	}
	written := map[string]kit.Hex{}
	for version := int16(0); version <= 3; version++ {
		written[fmt.Sprintf("v%d", version)] = subscription(version, topics, asked.Owned,
			asked.UserData, kit.Number(asked.Generation), asked.Rack).AppendTo(nil)
	}
	return written, nil
}

func writeAssignment(asked kit.Request) (any, error) {
	written := map[string]kit.Hex{}
	for version := int16(0); version <= 3; version++ {
		assignment := kmsg.NewConsumerMemberAssignment()
		assignment.Version, assignment.UserData = version, asked.UserData
		grouped := kit.ByTopic(asked.Owned)
		for _, topic := range kit.Sorted(grouped) {
			entry := kmsg.NewConsumerMemberAssignmentTopic()
			entry.Topic, entry.Partitions = topic, grouped[topic]
			assignment.Topics = append(assignment.Topics, entry)
		}
		written[fmt.Sprintf("v%d", version)] = assignment.AppendTo(nil)
	}
	return written, nil
}

// What a member sends after it was assigned its partitions.
func writeUserData(asked kit.Request) (any, error) {
	sent := balancer(asked.Algorithm).JoinGroupMetadata(
		[]string{"t"}, kit.ByTopic(asked.Owned), kit.Number(asked.Generation))
	var read kmsg.ConsumerMemberMetadata
	if err := read.ReadFrom(sent); err != nil {
		return nil, err
	}
	return map[string]any{"ud": kit.Hex(read.UserData)}, nil
}
