package main

import (
	"fmt"
	"sort"

	"github.com/anishathalye/porcupine"
)

// A file is kept under its digest: before it was put there is none, afterwards exactly its content.
type fileInput struct {
	f, digest string
	want      string
}

func checkFile(object string, ops []*operation) ([]porcupine.Operation, error) {
	history := []porcupine.Operation{}
	for _, o := range ops {
		if o.refused() != "" || (o.F == "get" && !o.known()) {
			continue
		}
		in := fileInput{f: o.F, want: object[len("file/"):]}
		if o.known() {
			var out struct{ Digest string }
			decode(o.Out, &out)
			in.digest = out.Digest
			if o.F == "put" && in.digest != in.want {
				return nil, fmt.Errorf("%s was stored as %s", object, in.digest)
			}
		}
		history = append(history, porcupine.Operation{Input: in, Call: o.Call, Output: o, Return: o.End})
	}
	return history, nil
}

var fileModel = porcupine.Model{
	Init:  func() interface{} { return false },
	Equal: func(a, b interface{}) bool { return a == b },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		in := input.(fileInput)
		if in.f == "put" {
			return true, true
		}
		if state.(bool) {
			return in.digest == in.want, state
		}
		return in.digest == "", state
	},
	DescribeOperation: func(input, _ interface{}) string { return fmt.Sprintf("%+v", input) },
}

// A conversation with files, whose order the last reader saw; the state is how many messages there are yet.
type sendInput struct {
	f        string
	position int
	shown    [][2]string
	log      [][2]string
}

func checkFiles(object string, ops []*operation) ([]porcupine.Operation, error) {
	log, position, err := lastSeen(object, ops)
	if err != nil {
		return nil, err
	}
	ends := map[string]int64{}
	for _, o := range ops {
		if o.F == "send" && o.known() && o.refused() == "" {
			key := sent(o)[0]
			if end, ok := ends[key]; !ok || o.End < end {
				ends[key] = o.End
			}
			if _, ok := position[key]; !ok {
				return nil, fmt.Errorf("%s: %s was acknowledged and is lost", object, key)
			}
		}
	}
	history := []porcupine.Operation{}
	for _, o := range ops {
		if o.refused() != "" || (o.F == "read" && !o.known()) {
			continue
		}
		in, end := sendInput{f: o.F, log: log}, o.End
		if o.F == "send" {
			key := sent(o)[0]
			place, ok := position[key]
			if !ok {
				continue
			}
			if log[place] != sent(o) {
				return nil, fmt.Errorf("%s: %s has another file: %v", object, key, log[place])
			}
			in.position = place
			if acked, ok := ends[key]; ok && !o.known() && acked > o.Call {
				end = acked
			}
		} else {
			in.shown = shownMessages(o)
		}
		history = append(history, porcupine.Operation{Input: in, Call: o.Call, Output: o, Return: end})
	}
	return history, nil
}

func sent(o *operation) [2]string {
	var given struct{ Key, Digest string }
	decode(o.In, &given)
	return [2]string{given.Key, given.Digest}
}

func shownMessages(o *operation) [][2]string {
	var out struct{ Messages [][2]string }
	decode(o.Out, &out)
	return out.Messages
}

func lastSeen(object string, ops []*operation) ([][2]string, map[string]int, error) {
	reads := []*operation{}
	for _, o := range ops {
		if o.F == "read" && o.known() && o.refused() == "" {
			reads = append(reads, o)
		}
	}
	if len(reads) == 0 {
		return nil, nil, fmt.Errorf("%s was never read", object)
	}
	sort.Slice(reads, func(i, j int) bool { return reads[i].Call < reads[j].Call })
	log, position := shownMessages(reads[len(reads)-1]), map[string]int{}
	for place, one := range log {
		if _, doubled := position[one[0]]; doubled {
			return nil, nil, fmt.Errorf("%s: %s is there twice", object, one[0])
		}
		position[one[0]] = place
	}
	return log, position, nil
}

var sendModel = porcupine.Model{
	Init:  func() interface{} { return 0 },
	Equal: func(a, b interface{}) bool { return a == b },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		count, in := state.(int), input.(sendInput)
		if in.f == "send" {
			if in.position == count {
				count++
			}
			return in.position < count, count
		}
		if len(in.shown) != count {
			return false, count
		}
		for place, one := range in.shown {
			if in.log[place] != one {
				return false, count
			}
		}
		return true, count
	},
	DescribeOperation: func(input, _ interface{}) string { return fmt.Sprintf("%+v", input.(sendInput).f) },
}
