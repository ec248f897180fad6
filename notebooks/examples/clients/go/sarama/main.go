// From producer to consumers on Sarama, in one group with a Python member.
//
// First start mixed_group.py [BOOTSTRAP] [TOPIC] sticky, then
//
//	go run ./sarama [BOOTSTRAP] [TOPIC]
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/IBM/sarama"
)

const partitions, records = 6, 60

type place struct {
	partition int32
	offset    int64
}

// member is what Sarama calls, in a goroutine for each partition that is ours. The main goroutine
// makes the changes, in their order.
type member struct {
	changes chan func()
	owned   map[int32]bool
	seen    map[place]bool
}

func (m member) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (m member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	m.changes <- func() { m.owned[claim.Partition()] = true }
	defer func() { m.changes <- func() { delete(m.owned, claim.Partition()) } }()
	for message := range claim.Messages() {
		m.changes <- func() { m.seen[place{message.Partition, message.Offset}] = true }
		session.MarkMessage(message, "")
	}
	return nil
}

func main() {
	bootstrap, topic := argument(1, "localhost:9092"), argument(2, "orders")
	config := sarama.NewConfig()
	config.ClientID = "sarama"
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{
		sarama.NewBalanceStrategySticky(),
	}
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	group, err := sarama.NewConsumerGroup([]string{bootstrap}, topic+"-readers", config)
	check(err)
	m := member{
		changes: make(chan func(), 2*records), // nobody listens to the last ones
		owned:   map[int32]bool{},
		seen:    map[place]bool{},
	}
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan struct{})
	go func() {
		defer close(left)
		// Each round of the group ends one call, and the next joins again.
		for ctx.Err() == nil {
			check(group.Consume(ctx, []string{topic}, m))
		}
	}()

	m.waitUntil(func() bool { return len(m.owned) == partitions/2 })
	fmt.Println("together: sarama has", numbers(m.owned))
	write(bootstrap, topic, config)
	fmt.Println(records, "records written")
	m.waitUntil(func() bool { return len(m.seen) == records/2 })
	fmt.Println(len(m.seen), "of", records, "records read")
	m.waitUntil(func() bool { return len(m.owned) == partitions })
	fmt.Println("python left: sarama has", numbers(m.owned))
	leave()
	<-left
	check(group.Close())
}

func (m member) waitUntil(isDone func() bool) {
	for !isDone() {
		(<-m.changes)()
	}
}

func write(bootstrap, topic string, config *sarama.Config) {
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, config)
	check(err)
	messages := []*sarama.ProducerMessage{}
	for number := range records {
		messages = append(messages, &sarama.ProducerMessage{
			Topic:     topic,
			Partition: int32(number % partitions),
			Value:     sarama.StringEncoder(strconv.Itoa(number)),
		})
	}
	check(producer.SendMessages(messages))
	check(producer.Close())
}

func numbers(owned map[int32]bool) string {
	return strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(owned))), "[]")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func argument(at int, otherwise string) string {
	if len(os.Args) > at {
		return os.Args[at]
	}
	return otherwise
}
