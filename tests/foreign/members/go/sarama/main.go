// A group member on Sarama. One goroutine a claim reports, then marks, then commits.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/IBM/sarama"

	"members/report"
)

var strategies = map[string]func() sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange,
	"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
	"sticky":             sarama.NewBalanceStrategySticky,
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
}

type handler struct{}

func (handler) Setup(session sarama.ConsumerGroupSession) error {
	report.Claims("setup", session.Claims())
	return nil
}

func (handler) Cleanup(session sarama.ConsumerGroupSession) error {
	report.Claims("cleanup", session.Claims())
	return nil
}

func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	partition := map[string][]int32{claim.Topic(): {claim.Partition()}}
	report.Assigned(partition)
	defer report.Gone("revoked", partition)
	run := report.Run{Topic: claim.Topic(), Partition: claim.Partition()}
	var newest *sarama.ConsumerMessage
	settle := func() {
		if run.Flush() {
			session.MarkMessage(newest, "")
			session.Commit()
		}
	}
	defer settle()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			newest = message
			run.Add(message.Value)
		case <-tick.C:
			settle()
		case <-session.Context().Done():
			return nil
		}
	}
}

func configured(settings report.Settings) (*sarama.Config, error) {
	config := sarama.NewConfig()
	config.ClientID = settings.ClientID
	config.RackID = settings.Rack
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.InstanceId = settings.Instance
	config.Consumer.Group.Session.Timeout = settings.Session
	config.Consumer.Group.Heartbeat.Interval = settings.Heartbeat
	config.Consumer.Group.Rebalance.Timeout = settings.Rebalance
	config.Consumer.Return.Errors = true
	config.Consumer.MaxWaitTime = 200 * time.Millisecond
	config.Metadata.RefreshFrequency = settings.MetadataAge
	for _, name := range settings.Assignors {
		strategy, known := strategies[name]
		if !known {
			return nil, errors.New("no such strategy: " + name)
		}
		list := &config.Consumer.Group.Rebalance.GroupStrategies
		if name == settings.Assignors[0] {
			*list = nil
		}
		*list = append(*list, strategy())
	}
	if settings.APIVersion == "" {
		return config, nil
	}
	version, err := sarama.ParseKafkaVersion(settings.APIVersion)
	config.Version = version
	return config, err
}

func main() {
	settings := report.Parse()
	config, err := configured(settings)
	if err != nil {
		report.Error(err.Error())
		os.Exit(2)
	}
	group, err := sarama.NewConsumerGroup([]string{settings.Bootstrap}, settings.Group, config)
	if err != nil {
		report.Error(err.Error())
		os.Exit(2)
	}
	go func() {
		for err := range group.Errors() {
			report.Error(err.Error())
		}
	}()
	report.Event("started")
	consume(group, settings.Topics, report.Commands())
	if err := group.Close(); err != nil {
		report.Error(err.Error())
	}
	report.Event("closed")
}

// consume stays in the group until the commands end; a new subscription ends one session and
// starts the next.
func consume(group sarama.ConsumerGroup, topics []string, commands <-chan []string) {
	for open := true; open; {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				if err := group.Consume(ctx, topics, handler{}); err != nil {
					report.Error("consume: " + err.Error())
					time.Sleep(300 * time.Millisecond)
				}
			}
		}()
		var changed []string
		if changed, open = <-commands; open {
			topics = changed
		}
		cancel()
		<-ended
	}
}
