// franz-go and Sarama as contenders of the benchmark, through their public API.
//
//	contender FOLDER ALGORITHM STAGE SECONDS EVENT...
//
// Files, stages and what is printed: tests/benchmarks/peers/group_files.py and contender.py.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type group struct {
	topics  []string
	counts  []int32
	members []string
	blobs   [][]byte
}

// call is what is timed: run of what prepare returned. plan has the answer, not timed.
type call struct {
	prepare func() any
	run     func(any) any
	plan    func(any, func(member, topic string, partitions []int32))
}

func main() {
	folder, algorithm, stage, events := os.Args[1], os.Args[2], os.Args[3], os.Args[5:]
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	for _, event := range events {
		protocol := "cooperative"
		if stage == "plan" || strings.HasSuffix(algorithm, "-sticky") {
			protocol = "eager"
		}
		read := readGroup(filepath.Join(folder, event+"."+protocol))
		var timed call
		if strings.HasPrefix(algorithm, "franz-go") {
			timed = franz(read, protocol, stage)
		} else {
			timed = saramas(read, protocol, stage)
		}
		if stage == "plan" {
			writePlan(filepath.Join(folder, event+"."+algorithm+".plan"), read, timed)
			fmt.Printf("{\"event\": %q}\n", event)
			continue
		}
		cold, least, runs, peak := measured(timed, seconds)
		fmt.Printf("{\"event\": %q, \"cold_ms\": %f, \"least_ms\": %f, \"runs\": %d, \"peak_mb\": %f}\n",
			event, cold, least, runs, peak)
	}
}

// A clock takes as long as a third of the shortest calls: those are timed by many at once.
const shortMs, together, clockMs = 0.2, 100, 1e-6

func measured(timed call, seconds float64) (cold, least float64, runs int, peak float64) {
	ready := []any{timed.prepare()}
	check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o644))
	before := status("VmRSS")
	until := cpuMs() + 1e3*seconds
	var all []float64
	for {
		begin := cpuMs()
		for _, each := range ready {
			timed.run(each)
		}
		spent := (cpuMs() - begin) / float64(len(ready))
		if runs == 0 {
			cold, peak = spent, status("VmHWM")-before
		}
		runs += len(ready)
		all = append(all, spent)
		late := (cpuMs() - until) / 1e3
		if late > 2 || (late > 0 && runs >= 3) {
			slices.Sort(all)
			return cold, all[len(all)/10], runs, peak
		}
		ready = make([]any, max(1, min(int(shortMs/max(spent, clockMs)), together)))
		for i := range ready {
			ready[i] = timed.prepare()
		}
	}
}

func franz(read group, protocol, stage string) call {
	balancer := kgo.CooperativeStickyBalancer()
	if protocol == "eager" {
		balancer = kgo.StickyBalancer()
	}
	counts := map[string]int32{}
	for i, topic := range read.topics {
		counts[topic] = read.counts[i]
	}
	members := make([]kmsg.JoinGroupResponseMember, len(read.members))
	for i, name := range read.members {
		members[i] = kmsg.NewJoinGroupResponseMember()
		members[i].MemberID, members[i].ProtocolMetadata = name, read.blobs[i]
	}
	decode := func() any {
		decoded, _, err := balancer.MemberBalancer(members)
		check(err)
		return decoded
	}
	assign := func(decoded any) any {
		plan, err := decoded.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
		check(err)
		return plan
	}
	plan := func(answer any, give func(string, string, []int32)) {
		for _, each := range answer.(kgo.IntoSyncAssignment).IntoSyncAssignment() {
			partitions, err := balancer.ParseSyncAssignment(each.MemberAssignment)
			check(err)
			for topic, numbers := range partitions {
				give(each.MemberID, topic, numbers)
			}
		}
	}
	if stage == "full" {
		return call{prepare: func() any { return nil }, run: func(any) any {
			return assign(decode()).(kgo.IntoSyncAssignment).IntoSyncAssignment()
		}}
	}
	return call{decode, assign, plan}
}

func saramas(read group, protocol, stage string) call {
	topics := map[string][]int32{}
	for i, topic := range read.topics {
		for number := range read.counts[i] {
			topics[topic] = append(topics[topic], number)
		}
	}
	response := sarama.JoinGroupResponse{}
	for i, name := range read.members {
		response.Members = append(response.Members,
			sarama.GroupMember{MemberId: name, Metadata: read.blobs[i]})
	}
	decode := func() any {
		members, err := response.GetMembers()
		check(err)
		return members
	}
	assign := func(decoded any) any {
		strategy := sarama.NewBalanceStrategyCooperativeSticky()
		if protocol == "eager" {
			strategy = sarama.NewBalanceStrategySticky()
		}
		plan, err := strategy.Plan(decoded.(map[string]sarama.ConsumerGroupMemberMetadata), topics)
		check(err)
		return plan
	}
	plan := func(answer any, give func(string, string, []int32)) {
		for member, given := range answer.(sarama.BalanceStrategyPlan) {
			for topic, numbers := range given {
				give(member, topic, numbers)
			}
		}
	}
	if stage == "full" {
		return call{prepare: func() any { return nil }, run: func(any) any {
			request := &sarama.SyncGroupRequest{}
			for member, given := range assign(decode()).(sarama.BalanceStrategyPlan) {
				check(request.AddGroupAssignmentMember(member,
					&sarama.ConsumerGroupMemberAssignment{Topics: given}))
			}
			return request
		}}
	}
	return call{decode, assign, plan}
}

func writePlan(path string, read group, timed call) {
	first, members, total := map[string]int32{}, map[string]int{}, int32(0)
	for i, topic := range read.topics {
		first[topic] = total
		total += read.counts[i]
	}
	for i, name := range read.members {
		members[name] = i
	}
	owner := make([]byte, 4*total)
	for i := range owner {
		owner[i] = 0xff
	}
	timed.plan(timed.run(timed.prepare()), func(member, topic string, partitions []int32) {
		for _, number := range partitions {
			binary.BigEndian.PutUint32(owner[4*(first[topic]+number):], uint32(members[member]))
		}
	})
	check(os.WriteFile(path, owner, 0o644))
}

func readGroup(path string) (read group) {
	raw, err := os.ReadFile(path)
	check(err)
	integer := func() int32 {
		value := int32(binary.BigEndian.Uint32(raw))
		raw = raw[4:]
		return value
	}
	chunk := func() []byte {
		length := integer()
		value := raw[:length:length]
		raw = raw[length:]
		return value
	}
	topics, members, classes, replicas, partitions :=
		integer(), integer(), integer(), integer(), integer()
	for range topics {
		read.topics = append(read.topics, string(chunk()))
		read.counts = append(read.counts, integer())
	}
	for range classes {
		raw = raw[4*integer():]
	}
	for range members {
		read.members = append(read.members, string(chunk()))
		integer() // class
		integer() // rack
	}
	raw = raw[4*partitions*(1+replicas):]
	for range members {
		read.blobs = append(read.blobs, chunk())
	}
	return read
}

// cpuMs is the CPU time of the whole process, garbage collection included.
func cpuMs() float64 {
	var now syscall.Timespec
	const processClock = 2
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, processClock,
		uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		panic(errno)
	}
	return float64(now.Nano()) / 1e6
}

func status(name string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	check(err)
	return kilobytes / 1024
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
