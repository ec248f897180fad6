// Package report is the member protocol, as every member program here speaks it: flags in,
// one JSON object a line out, commands on standard input.
package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Settings are the flags; all of them are always given.
type Settings struct {
	Bootstrap, Group, ClientID, Instance, Rack, APIVersion string
	Topics, Assignors                                      []string
	Session, Heartbeat, Rebalance, MetadataAge             time.Duration
}

// Parse reads "--name value" pairs.
func Parse() Settings {
	flags := map[string]string{}
	for at := 1; at+1 < len(os.Args); at += 2 {
		flags[strings.TrimPrefix(os.Args[at], "--")] = os.Args[at+1]
	}
	return Settings{
		Bootstrap:   flags["bootstrap"],
		Group:       flags["group"],
		ClientID:    flags["client-id"],
		Instance:    flags["instance"],
		Rack:        flags["rack"],
		APIVersion:  flags["api-version"],
		Topics:      strings.Split(flags["topics"], ","),
		Assignors:   strings.Split(flags["assignors"], ","),
		Session:     milliseconds(flags["session-timeout-ms"]),
		Heartbeat:   milliseconds(flags["heartbeat-ms"]),
		Rebalance:   milliseconds(flags["rebalance-timeout-ms"]),
		MetadataAge: milliseconds(flags["metadata-max-age-ms"]),
	}
}

func milliseconds(text string) time.Duration {
	count, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(count) * time.Millisecond
}

var (
	lock  sync.Mutex
	owned = map[string]map[int32]bool{}
)

// Assigned says that partitions are ours from now on.
func Assigned(given map[string][]int32) {
	lock.Lock()
	defer lock.Unlock()
	for topic, partitions := range given {
		if owned[topic] == nil {
			owned[topic] = map[int32]bool{}
		}
		for _, partition := range partitions {
			owned[topic][partition] = true
		}
	}
	write(map[string]any{"event": "assigned", "partitions": pairs(given)})
}

// Gone says that partitions are ours no longer: "revoked" after a hand-over, "lost" without one.
func Gone(event string, taken map[string][]int32) {
	lock.Lock()
	defer lock.Unlock()
	for topic, partitions := range taken {
		for _, partition := range partitions {
			delete(owned[topic], partition)
		}
	}
	write(map[string]any{"event": event, "partitions": pairs(taken)})
}

// View writes all that is ours at this moment.
func View() {
	lock.Lock()
	defer lock.Unlock()
	all := map[string][]int32{}
	for topic, partitions := range owned {
		for partition := range partitions {
			all[topic] = append(all[topic], partition)
		}
	}
	write(map[string]any{"event": "view", "partitions": pairs(all)})
}

// Event writes an event that has nothing but its name.
func Event(event string) {
	lock.Lock()
	defer lock.Unlock()
	write(map[string]any{"event": event})
}

// Claims writes an event of a session, with what is claimed in it.
func Claims(event string, claims map[string][]int32) {
	lock.Lock()
	defer lock.Unlock()
	write(map[string]any{"event": event, "partitions": pairs(claims)})
}

// Error writes what the client complained about.
func Error(text string) {
	lock.Lock()
	defer lock.Unlock()
	write(map[string]any{"event": "error", "text": text})
}

// Run collects consecutive sequence numbers of one partition.
type Run struct {
	Topic       string
	Partition   int32
	first, last int64
	some        bool
}

// Add takes one record's value, which is its sequence number.
func (r *Run) Add(value []byte) {
	sequence, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		Error("a value that is no sequence number: " + string(value))
		return
	}
	if r.some && sequence != r.last+1 {
		r.Flush()
	}
	if !r.some {
		r.first, r.some = sequence, true
	}
	r.last = sequence
}

// Flush writes what was collected; false where that is nothing.
func (r *Run) Flush() bool {
	if !r.some {
		return false
	}
	lock.Lock()
	defer lock.Unlock()
	r.some = false
	write(map[string]any{
		"event": "records", "topic": r.Topic, "partition": r.Partition,
		"first": r.first, "last": r.last,
	})
	return true
}

// Commands answers "view" itself and hands on "subscribe a,b"; "close" and the end of the input
// close the channel. It also writes a view every 400 ms.
func Commands() <-chan []string {
	subscriptions := make(chan []string)
	go func() {
		for range time.Tick(400 * time.Millisecond) {
			View()
		}
	}()
	go func() {
		defer close(subscriptions)
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			command, rest, _ := strings.Cut(lines.Text(), " ")
			switch command {
			case "view":
				View()
			case "subscribe":
				subscriptions <- strings.Split(rest, ",")
			case "close":
				return
			}
		}
	}()
	return subscriptions
}

func pairs(partitions map[string][]int32) [][2]any {
	listed := [][2]any{}
	for topic, numbers := range partitions {
		if len(numbers) > 0 {
			sorted := append([]int32{}, numbers...)
			sort.Slice(sorted, func(a, b int) bool { return sorted[a] < sorted[b] })
			listed = append(listed, [2]any{topic, sorted})
		}
	}
	return listed
}

func write(event map[string]any) {
	event["t"] = time.Now().UnixMilli()
	line, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
