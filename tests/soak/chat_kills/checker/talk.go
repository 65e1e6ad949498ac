package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A conversation is a log to which each key is appended once, however often it is posted, in the order of the ids that
// the server gives. With it goes the mark of one subscriber, which moves forward only.
//
// All ids are known in the end, and a log can only grow in their order: so the state is how many of them there are yet.
type talkState struct {
	count int
	mark  string
}

type entry struct{ id, author, key string }

type talkInput struct {
	f            string
	position     int // of the posted key in the log; -1 for none
	after        string
	authors, ack string
	log          []entry
	isKnown      bool
	out          talkPage
}

type talkPage struct {
	messages   []entry
	last, head string
	more       bool
}

type rawPage struct {
	Messages   [][3]string
	Last, Head string
	More       bool
}

func checkTalk(object string, ops []*operation) ([]porcupine.Operation, error) {
	log, position, err := logOf(ops)
	if err != nil {
		return nil, err
	}
	ends := endsOfRetries(ops)
	history := []porcupine.Operation{}
	posted := map[string]bool{}
	for _, o := range ops {
		if o.refused() != "" || (o.F == "read" && !o.known()) {
			continue
		}
		in := talkInput{f: o.F, position: -1, log: log, isKnown: o.known()}
		end := o.End
		switch o.F {
		case "post":
			var given struct{ Key string }
			decode(o.In, &given)
			place, ok := position[given.Key]
			if !ok {
				continue // it was never acknowledged nor seen, hence has no effect yet
			}
			in.position, posted[given.Key] = place, true
			if !o.known() {
				end = ends[given.Key]
			}
		case "read":
			var given struct {
				After   string
				Authors []string
			}
			decode(o.In, &given)
			in.after, in.authors = given.After, strings.Join(given.Authors, ",")
		case "advance":
			var given struct{ Ack string }
			decode(o.In, &given)
			in.ack = given.Ack
		default:
			return nil, fmt.Errorf("%s: unknown operation %s", object, o.F)
		}
		if o.F != "post" && o.known() {
			in.out = pageOf(o)
		}
		history = append(history, porcupine.Operation{Input: in, Call: o.Call, Output: o, Return: end})
	}
	// What others wrote, an agent of the product, has no operation of ours: it may have come at any time.
	for place, one := range log {
		if !posted[one.key] {
			in := talkInput{f: "post", position: place, log: log}
			history = append(history, porcupine.Operation{Input: in, Call: 0, Output: one, Return: never})
		}
	}
	return history, nil
}

func pageOf(o *operation) talkPage {
	var raw rawPage
	decode(o.Out, &raw)
	page := talkPage{last: raw.Last, head: raw.Head, more: raw.More}
	for _, one := range raw.Messages {
		page.messages = append(page.messages, entry{one[0], one[1], one[2]})
	}
	return page
}

// logOf returns the whole log in the order of ids, from acknowledgements and from what readers saw.
func logOf(ops []*operation) ([]entry, map[string]int, error) {
	byID, byKey := map[string]entry{}, map[string]string{}
	keys := map[string]bool{}
	add := func(one entry) error {
		if known, ok := byID[one.id]; ok && known != one {
			return fmt.Errorf("id %s is %v and %v", one.id, known, one)
		}
		if id, ok := byKey[one.key]; ok && id != one.id {
			return fmt.Errorf("%s is in the log twice, as %s and %s", one.key, id, one.id)
		}
		byID[one.id], byKey[one.key] = one, one.id
		return nil
	}
	for _, o := range ops {
		if o.F != "post" {
			continue
		}
		var given struct{ Key, Author string }
		decode(o.In, &given)
		keys[given.Key] = true
		if !o.known() || o.refused() != "" {
			continue
		}
		var out struct{ ID string }
		decode(o.Out, &out)
		if err := add(entry{out.ID, given.Author, given.Key}); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range ops {
		if o.F == "post" || !o.known() || o.refused() != "" {
			continue
		}
		for _, one := range pageOf(o).messages {
			if !keys[one.key] && !strings.HasPrefix(one.key, "re:") {
				return nil, nil, fmt.Errorf("%s shows %v, which nobody posted", o.Op, one)
			}
			if err := add(one); err != nil {
				return nil, nil, err
			}
		}
	}
	log, position := []entry{}, map[string]int{}
	for _, one := range byID {
		log = append(log, one)
	}
	sort.Slice(log, func(i, j int) bool { return log[i].id < log[j].id })
	for place, one := range log {
		position[one.key] = place
	}
	return log, position, nil
}

// endsOfRetries returns when each key was first acknowledged: from then on an attempt with an unknown outcome changes
// nothing, wherever it is put, so it need not be kept open for ever.
func endsOfRetries(ops []*operation) map[string]int64 {
	ends := map[string]int64{}
	for _, o := range ops {
		if o.F != "post" {
			continue
		}
		var given struct{ Key string }
		decode(o.In, &given)
		if _, ok := ends[given.Key]; !ok {
			ends[given.Key] = never
		}
		if o.known() && o.refused() == "" && o.End < ends[given.Key] {
			ends[given.Key] = o.End
		}
	}
	// An attempt may have been sent after the first acknowledgement, by a client that was killed before it knew.
	for _, o := range ops {
		if o.F != "post" || o.known() {
			continue
		}
		var given struct{ Key string }
		decode(o.In, &given)
		if ends[given.Key] <= o.Call {
			ends[given.Key] = never
		}
	}
	return ends
}

var talkModel = porcupine.Model{
	Init: func() interface{} { return talkState{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		s, in := state.(talkState), input.(talkInput)
		switch in.f {
		case "post":
			if in.position == s.count {
				s.count++
			}
			return in.position < s.count, s
		case "advance":
			if in.ack > s.mark {
				s.mark = in.ack
			}
			return !in.isKnown || shows(in, s.mark, s.count), s
		default:
			return shows(in, in.after, s.count), s
		}
	},
	Equal:             func(a, b interface{}) bool { return a == b },
	DescribeOperation: func(input, _ interface{}) string { return fmt.Sprintf("%+v", input.(talkInput).f) },
}

// shows tells whether a page is what a reader after an id has to see in the first `count` entries: nothing left out,
// nothing doubled, in order; all of it unless the page says that there is more.
func shows(in talkInput, after string, count int) bool {
	log := in.log[:count]
	from := sort.Search(len(log), func(i int) bool { return log[i].id > after })
	seen := 0
	for _, one := range log[from:] {
		if in.authors != "" && one.author != in.authors {
			continue
		}
		if seen == len(in.out.messages) {
			return in.out.more && headIs(in.out.head, log)
		}
		if in.out.messages[seen] != one {
			return false
		}
		seen++
	}
	return seen == len(in.out.messages) && !in.out.more && headIs(in.out.head, log)
}

func headIs(head string, log []entry) bool {
	return (len(log) == 0 && head == "") || (len(log) > 0 && log[len(log)-1].id == head)
}
