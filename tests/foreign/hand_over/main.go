// What a franz-go leader gives out under cooperative-sticky: a line of JSON in, one out.
//
// With a target it is what AdjustCooperative leaves of it; without one, franz-go makes the plan too.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const topic = "orders"

type member struct {
	ID         string  `json:"id"`
	Owned      []int32 `json:"owned"`
	Generation int32   `json:"generation"`
	Target     []int32 `json:"target"`
}

type asked struct {
	Partitions int32    `json:"partitions"`
	HasTarget  bool     `json:"has_target"`
	Members    []member `json:"members"`
}

type nobody struct{}

func (nobody) Balance(*kgo.ConsumerBalancer, map[string]int32) kgo.IntoSyncAssignment { return nil }

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var one asked
		must(json.Unmarshal(lines.Bytes(), &one))
		must(answers.Encode(given(one)))
	}
	must(lines.Err())
}

func given(one asked) map[string][]int32 {
	joined := []kmsg.JoinGroupResponseMember{}
	for _, each := range one.Members {
		written := kmsg.NewConsumerMemberMetadata()
		written.Version, written.Topics, written.Generation = 3, []string{topic}, each.Generation
		owned := kmsg.NewConsumerMemberMetadataOwnedPartition()
		owned.Topic, owned.Partitions = topic, each.Owned
		written.OwnedPartitions = append(written.OwnedPartitions, owned)
		joins := kmsg.NewJoinGroupResponseMember()
		joins.MemberID, joins.ProtocolMetadata = each.ID, written.AppendTo(nil)
		joined = append(joined, joins)
	}
	found := map[string][]int32{}
	for id, topics := range plan(one, joined).AsMemberIDMap() {
		found[id] = append([]int32{}, topics[topic]...)
	}
	return found
}

func plan(one asked, joined []kmsg.JoinGroupResponseMember) *kgo.BalancePlan {
	if !one.HasTarget {
		balancing, _, err := kgo.CooperativeStickyBalancer().MemberBalancer(joined)
		must(err)
		made, err := balancing.(kgo.GroupMemberBalancerOrError).BalanceOrError(
			map[string]int32{topic: one.Partitions})
		must(err)
		return made.(*kgo.BalancePlan)
	}
	balancer, err := kgo.NewConsumerBalancer(nobody{}, joined)
	must(err)
	target := balancer.NewPlan()
	for i := range one.Members {
		target.AddPartitions(&joined[i], topic, one.Members[i].Target)
	}
	target.AdjustCooperative(balancer)
	return target
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
