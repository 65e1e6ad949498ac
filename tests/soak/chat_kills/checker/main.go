// Chatkills judges histories of a chat whose servers and clients were killed: `chatkills FOLDER` reads FOLDER/*.jsonl.
//
// Each object (a conversation, a question with its task, an order with its approval, a file) is a partition, which must be
// linearizable by its model. An operation with an unknown outcome may take effect at any time after its call, or never.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	listedFor = int64(120 * time.Second)
	limit     = 5 * time.Minute
)

type checker struct {
	model porcupine.Model
	build func(object string, ops []*operation) ([]porcupine.Operation, error)
}

var checkers = map[string]checker{
	"talk":     {talkModel, checkTalk},
	"question": {askModel, checkAsked},
	"order":    {askModel, checkAsked},
	"file":     {fileModel, checkFile},
	"files":    {sendModel, checkFiles},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: chatkills FOLDER")
		os.Exit(2)
	}
	ops, err := load(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	faults := judge(ops)
	fmt.Println(summary(ops))
	for _, fault := range faults {
		fmt.Println("FAULT", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Println("linearizable: nothing lost, nothing doubled, nothing stale")
}

// judge returns what is wrong, a line each; an empty list means that every object is linearizable.
func judge(ops []*operation) []string {
	parts := partitions(ops)
	faults, mutex, group := unanswered(parts["talk/agent"]), sync.Mutex{}, sync.WaitGroup{}
	slots := make(chan bool, 2)
	for object, part := range parts {
		group.Add(1)
		go func(object string, part []*operation) {
			defer group.Done()
			slots <- true
			defer func() { <-slots }()
			if fault := judgeOne(object, part); fault != "" {
				mutex.Lock()
				faults = append(faults, fault)
				mutex.Unlock()
			}
		}(object, part)
	}
	group.Wait()
	sort.Strings(faults)
	return faults
}

func judgeOne(object string, ops []*operation) string {
	one, ok := checkers[kind(object)]
	if !ok {
		return object + ": no model for it"
	}
	history, err := one.build(object, ops)
	if err != nil {
		return fmt.Sprintf("%s: %v", object, err)
	}
	switch result := porcupine.CheckOperationsTimeout(one.model, history, limit); result {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return fmt.Sprintf("%s: not decided within %v (%d operations)", object, limit, len(history))
	default:
		return fmt.Sprintf("%s: not linearizable (%d operations); %s", object, len(history), firstLeftOut(one.model, history))
	}
}

// firstLeftOut names the operation that ended first of those that the longest order does not contain.
func firstLeftOut(model porcupine.Model, history []porcupine.Operation) string {
	_, info := porcupine.CheckOperationsVerbose(model, history, limit)
	longest := []int{}
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	placed := map[int]bool{}
	for _, place := range longest {
		placed[place] = true
	}
	first := -1
	for place, one := range history {
		if !placed[place] && (first < 0 || one.Return < history[first].Return) {
			first = place
		}
	}
	if first < 0 {
		return "no operation is to blame"
	}
	return fmt.Sprintf("%d can be put in order, not %v", len(longest), history[first].Output)
}

// partitions groups operations by object; a list of everything that waits is a look at each object that may be in it.
func partitions(ops []*operation) map[string][]*operation {
	parts := map[string][]*operation{}
	for _, o := range ops {
		if o.F != "list" {
			parts[o.Object] = append(parts[o.Object], o)
		}
	}
	begun := map[string]int64{}
	for object, part := range parts {
		for _, o := range part {
			if at, ok := begun[object]; (o.F == "ask" || o.F == "request") && (!ok || o.Call < at) {
				begun[object] = o.Call
			}
		}
	}
	for _, o := range ops {
		if o.F == "list" && o.known() && o.refused() == "" {
			spread(o, parts, begun)
		}
	}
	return parts
}

func spread(list *operation, parts map[string][]*operation, begun map[string]int64) {
	var out struct{ Keys []string }
	decode(list.Out, &out)
	prefix := strings.TrimSuffix(list.Object, "s") + "/"
	times := map[string]int{}
	for _, key := range out.Keys {
		times[prefix+key]++
	}
	for object, count := range times {
		if _, ok := begun[object]; !ok || count > 1 {
			// A question that nobody asked, or one that is there twice: no model has such an operation.
			parts[object] = append(parts[object], &operation{Op: list.Op, Object: object, F: "impossible", End: never, In: list.In})
		}
	}
	for object, at := range begun {
		recent := strings.HasPrefix(object, prefix) && at < list.End && list.Call-at < listedFor
		if times[object] > 0 || recent {
			seen, _ := json.Marshal(map[string]bool{"present": times[object] > 0})
			parts[object] = append(parts[object], &operation{
				Op: list.Op, Client: list.Client, Object: object, F: "list", Call: list.Call, End: list.End, In: list.In, Out: seen,
			})
		}
	}
}

// unanswered returns the messages that the product's own agent has not answered once, by the last look at its
// conversation: its model repeats their names.
func unanswered(ops []*operation) []string {
	if len(ops) == 0 {
		return nil
	}
	log, _, err := logOf(ops)
	if err != nil {
		return nil // reported with the conversation
	}
	answers := map[string]int{}
	for _, one := range log {
		if one.author == "assistant" {
			for _, name := range strings.Split(strings.TrimPrefix(one.key, "re:"), ",") {
				answers[name]++
			}
		}
	}
	faults := []string{}
	for _, one := range log {
		if one.author == "user" && answers[one.key] != 1 {
			faults = append(faults, fmt.Sprintf("talk/agent: %s has %d answers", one.key, answers[one.key]))
		}
	}
	return faults
}

func summary(ops []*operation) string {
	counts, unknown := map[string]int{}, 0
	for _, o := range ops {
		counts[kind(o.Object)+" "+o.F]++
		if !o.known() {
			unknown++
		}
	}
	words := []string{}
	for name, count := range counts {
		words = append(words, fmt.Sprintf("%s %d", name, count))
	}
	sort.Strings(words)
	return fmt.Sprintf("%d operations, %d with an unknown outcome: %s", len(ops), unknown, strings.Join(words, ", "))
}
