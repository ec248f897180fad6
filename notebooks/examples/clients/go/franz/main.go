// From producer to consumers on franz-go, in one group with a Python member.
//
// First start mixed_group.py [BOOTSTRAP] [TOPIC] cooperative-sticky, then
//
//	go run ./franz [BOOTSTRAP] [TOPIC]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const partitions, records = 6, 60

type place struct {
	partition int32
	offset    int64
}

// member is a client, what it owns by its callbacks, and what it has read.
type member struct {
	client *kgo.Client
	lock   sync.Mutex
	owned  []int32
	seen   map[place]bool
}

func main() {
	bootstrap, topic := argument(1, "localhost:9092"), argument(2, "orders")
	m := &member{seen: map[place]bool{}}
	gone := func(_ context.Context, _ *kgo.Client, taken map[string][]int32) { m.drop(taken[topic]) }
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.ConsumerGroup(topic+"-readers"),
		kgo.ConsumeTopics(topic),
		kgo.ClientID("franz"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
			m.add(given[topic])
		}),
		kgo.OnPartitionsRevoked(gone),
		kgo.OnPartitionsLost(gone),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	m.client = client

	m.pollUntil(func() bool { return len(m.has()) == partitions/2 })
	fmt.Println("together: franz has", numbers(m.has()))
	m.write(topic)
	fmt.Println(records, "records written")
	m.pollUntil(func() bool { return len(m.seen) == records/2 })
	fmt.Println(len(m.seen), "of", records, "records read")
	m.pollUntil(func() bool { return len(m.has()) == partitions })
	fmt.Println("python left: franz has", numbers(m.has()))
}

func (m *member) pollUntil(isDone func() bool) {
	for !isDone() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		m.client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
			m.seen[place{record.Partition, record.Offset}] = true
		})
		cancel()
	}
}

func (m *member) write(topic string) {
	for number := range records {
		record := kgo.StringRecord(strconv.Itoa(number))
		record.Topic, record.Partition = topic, int32(number%partitions)
		m.client.Produce(context.Background(), record, func(_ *kgo.Record, err error) {
			if err != nil {
				log.Fatal(err)
			}
		})
	}
	if err := m.client.Flush(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// The callbacks run beside the polls. Under a cooperative balancer they say what came and what
// went, not what there is.

func (m *member) add(given []int32) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.owned = append(m.owned, given...)
}

func (m *member) drop(taken []int32) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.owned = slices.DeleteFunc(m.owned, func(one int32) bool { return slices.Contains(taken, one) })
}

func (m *member) has() []int32 {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Sorted(slices.Values(m.owned))
}

func numbers(all []int32) string {
	return strings.Trim(fmt.Sprint(all), "[]")
}

func argument(at int, otherwise string) string {
	if len(os.Args) > at {
		return os.Args[at]
	}
	return otherwise
}
