// A group member on franz-go. A rebalance waits while polled records are reported and committed.
package main

import (
	"context"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"members/report"
)

var balancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

func options(settings report.Settings) []kgo.Opt {
	var chosen []kgo.GroupBalancer
	for _, name := range settings.Assignors {
		balancer, known := balancers[name]
		if !known {
			report.Error("no such balancer: " + name)
			os.Exit(2)
		}
		chosen = append(chosen, balancer())
	}
	all := []kgo.Opt{
		kgo.SeedBrokers(settings.Bootstrap),
		kgo.ConsumerGroup(settings.Group),
		kgo.ConsumeTopics(settings.Topics...),
		kgo.ClientID(settings.ClientID),
		kgo.Balancers(chosen...),
		kgo.SessionTimeout(settings.Session),
		kgo.HeartbeatInterval(settings.Heartbeat),
		kgo.RebalanceTimeout(settings.Rebalance),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(200 * time.Millisecond),
		kgo.MetadataMaxAge(settings.MetadataAge),
		kgo.MetadataMinAge(min(settings.MetadataAge, time.Second)),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelWarn, nil)),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
			report.Assigned(given)
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, client *kgo.Client, taken map[string][]int32) {
			commit(client)
			report.Gone("revoked", taken)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, taken map[string][]int32) {
			report.Gone("lost", taken)
		}),
	}
	if settings.Instance != "" {
		all = append(all, kgo.InstanceID(settings.Instance))
	}
	if settings.Rack != "" {
		all = append(all, kgo.Rack(settings.Rack))
	}
	return all
}

func commit(client *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		report.Error("commit: " + err.Error())
	}
}

// poll reports one batch and commits it.
func poll(client *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	fetches := client.PollFetches(ctx)
	defer client.AllowRebalance()
	some := false
	fetches.EachPartition(func(fetched kgo.FetchTopicPartition) {
		run := report.Run{Topic: fetched.Topic, Partition: fetched.Partition}
		for _, record := range fetched.Records {
			run.Add(record.Value)
		}
		some = run.Flush() || some
	})
	for _, failed := range fetches.Errors() {
		if ctx.Err() == nil {
			report.Error(failed.Err.Error())
		}
	}
	if some {
		commit(client)
	}
}

func subscribe(client *kgo.Client, before, after []string) {
	wanted := map[string]bool{}
	for _, topic := range after {
		wanted[topic] = true
	}
	var dropped []string
	for _, topic := range before {
		if !wanted[topic] {
			dropped = append(dropped, topic)
		}
	}
	client.AddConsumeTopics(after...)
	if len(dropped) > 0 {
		client.PurgeTopicsFromConsuming(dropped...)
	}
}

func main() {
	settings := report.Parse()
	client, err := kgo.NewClient(options(settings)...)
	if err != nil {
		report.Error(err.Error())
		os.Exit(2)
	}
	report.Event("started")
	commands, topics := report.Commands(), settings.Topics
	for open := true; open; {
		var changed []string
		select {
		case changed, open = <-commands:
			if open {
				subscribe(client, topics, changed)
				topics = changed
			}
		default:
			poll(client)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	if err := client.LeaveGroupContext(ctx); err != nil {
		report.Error("leave: " + err.Error())
	}
	client.CloseAllowingRebalance()
	report.Event("closed")
}
