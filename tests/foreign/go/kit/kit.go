// Package kit is the line-by-line protocol of the conformance kit, for programs in Go.
package kit

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

// Pair is a partition: [topic, number].
type Pair struct {
	Topic  string
	Number int32
}

// UnmarshalJSON reads ["t", 0].
func (p *Pair) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&p.Topic, &p.Number})
}

// MarshalJSON writes ["t", 0].
func (p Pair) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.Topic, p.Number})
}

// Hex is bytes in hexadecimal; nil is null.
type Hex []byte

// UnmarshalJSON reads "00ff" or null.
func (h *Hex) UnmarshalJSON(text []byte) error {
	var digits *string
	if err := json.Unmarshal(text, &digits); err != nil || digits == nil {
		return err
	}
	blob, err := hex.DecodeString(*digits)
	*h = blob
	return err
}

// MarshalJSON writes "00ff" or null.
func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(h))
}

// Member of a group; bytes in Subscription come before the fields.
type Member struct {
	ID           string   `json:"id"`
	Instance     *string  `json:"instance"`
	Subscription Hex      `json:"subscription"`
	Topics       []string `json:"topics"`
	Owned        []Pair   `json:"owned"`
	Generation   *int32   `json:"sgen"`
	UserData     Hex      `json:"ud"`
	Rack         *string  `json:"rack"`
}

// Request has the fields of every operation.
type Request struct {
	ID         string          `json:"id"`
	Algorithm  string          `json:"algo"`
	Hex        Hex             `json:"hex"`
	Topics     json.RawMessage `json:"topics"`
	Members    []Member        `json:"members"`
	Owned      []Pair          `json:"owned"`
	Generation *int32          `json:"gen"`
	UserData   Hex             `json:"ud"`
	Rack       *string         `json:"rack"`
}

// Counts returns the topics of a group with their partition counts.
func (r Request) Counts() (map[string]int32, error) {
	var topics map[string][][]*string
	if err := json.Unmarshal(r.Topics, &topics); err != nil {
		return nil, err
	}
	counts := map[string]int32{}
	for topic, racks := range topics {
		counts[topic] = int32(len(racks))
	}
	return counts, nil
}

// Names returns the topics of a Subscription.
func (r Request) Names() ([]string, error) {
	names := []string{}
	if r.Topics == nil {
		return names, nil
	}
	return names, json.Unmarshal(r.Topics, &names)
}

// Number is a generation, -1 where there is none.
func Number(generation *int32) int32 {
	if generation == nil {
		return -1
	}
	return *generation
}

// ByTopic groups partitions.
func ByTopic(pairs []Pair) map[string][]int32 {
	grouped := map[string][]int32{}
	for _, pair := range pairs {
		grouped[pair.Topic] = append(grouped[pair.Topic], pair.Number)
	}
	return grouped
}

// Flat lists partitions, topics sorted.
func Flat(grouped map[string][]int32) []Pair {
	pairs := []Pair{}
	for _, topic := range Sorted(grouped) {
		for _, number := range grouped[topic] {
			pairs = append(pairs, Pair{topic, number})
		}
	}
	return pairs
}

// Sorted returns the topics in order.
func Sorted(grouped map[string][]int32) []string {
	topics := make([]string, 0, len(grouped))
	for topic := range grouped {
		topics = append(topics, topic)
	}
	sort.Strings(topics)
	return topics
}

// SortMembers orders members as a client's leader has them: static ones first, then by id.
func SortMembers(members []Member) {
	sort.SliceStable(members, func(i, j int) bool {
		one, other := members[i], members[j]
		switch {
		case one.Instance != nil && other.Instance != nil:
			return *one.Instance < *other.Instance
		case one.Instance != nil || other.Instance != nil:
			return one.Instance != nil
		}
		return one.ID < other.ID
	})
}

// Skip is the error of a program that does not do what it is asked.
type Skip string

func (s Skip) Error() string { return string(s) }

// Serve answers requests until there are no more. A panic is an answer like any other error.
func Serve(work func(Request) (any, error)) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request Request
		answer := map[string]any{}
		if err := json.Unmarshal(line, &request); err != nil {
			answer["error"] = map[string]string{"text": err.Error()}
		} else if result, err := guarded(work, request); err == nil {
			answer["out"] = result
		} else if skip, ok := err.(Skip); ok {
			answer["skip"] = string(skip)
		} else {
			answer["error"] = map[string]string{"text": err.Error()}
		}
		answer["id"] = request.ID
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}

func guarded(work func(Request) (any, error), request Request) (result any, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			err = fmt.Errorf("panic: %v", trouble)
		}
	}()
	return work(request)
}
