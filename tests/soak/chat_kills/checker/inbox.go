package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A question, or an order that waits for an approval, with the task that waits for it. The person settles it once.
// An order is carried out once, after it was approved.
type askState struct {
	asked     bool
	settled   string // the value, the decision, or withdrawn
	cancelled bool   // the client asked for it
	executed  int
	task      string // what became of the task, once that was seen
	waits     bool   // whether it was asked to wait for the answer
}

const (
	withdrawn = "\x00withdrawn"
	approve   = "approve"

	pendingResult = "question pending"
)

type askInput struct {
	f       string
	isKnown bool
	value   string // of an answer or a decision
	won     bool
	present bool   // of a list: whether it was in it
	status  string // of a look or of a task
	text    string
	isError bool
	isOrder bool
	task    bool // whether asking it returned a task
	waits   bool // of an ask: whether it waits for the answer
}

func checkAsked(object string, ops []*operation) ([]porcupine.Operation, error) {
	history := []porcupine.Operation{}
	for _, o := range ops {
		reading := o.F == "look" || o.F == "task" || o.F == "list"
		if reading && !o.known() {
			continue
		}
		if text := o.refused(); text != "" {
			if reading {
				return nil, fmt.Errorf("%s: %s was refused: %s", object, o.Op, text)
			}
			if o.F == "ask" || o.F == "request" || o.F == "cancel" {
				continue
			}
			return nil, fmt.Errorf("%s: %s was refused: %s", object, o.Op, text)
		}
		in, end := askInputOf(o), o.End
		// A task is given before its call has finished, so its question may be stored a moment later.
		if in.task {
			end = never
		}
		history = append(history, porcupine.Operation{Input: in, Call: o.Call, Output: o, Return: end})
		if (o.F == "ask" || o.F == "request") && in.status != "" {
			// It returned what became of it: asking and seeing that are two steps, between which the person decides.
			in.f = map[string]string{"ask": "look", "request": "task"}[o.F]
			history = append(history, porcupine.Operation{Input: in, Call: o.Call, Output: o, Return: o.End})
		}
	}
	return history, nil
}

func askInputOf(o *operation) askInput {
	in := askInput{f: o.F, isKnown: o.known(), isOrder: kind(o.Object) == "order"}
	var given struct {
		Value, Decision string
		Task            json.RawMessage // of an ask: whether it waits; else the name of a task
	}
	decode(o.In, &given)
	in.value, in.waits = given.Value+given.Decision, o.F == "ask" && string(given.Task) == "true"
	if o.known() {
		var out struct {
			Won           bool
			Present       bool
			Status, Value string
			Question      string
			Text, Task    string
			Error         bool
		}
		decode(o.Out, &out)
		in.won, in.present, in.status, in.text, in.isError = out.Won, out.Present, out.Status, out.Text, out.Error
		if o.F == "look" || o.F == "task" || o.F == "ask" {
			in.value = out.Value
		}
		if out.Question != "" && out.Question != "answered" {
			in.value = "question " + out.Question
		}
		in.task = (o.F == "ask" || o.F == "request") && out.Task != ""
	}
	return in
}

var askModel = porcupine.Model{
	Init:  func() interface{} { return askState{} },
	Equal: func(a, b interface{}) bool { return a == b },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		s, in := state.(askState), input.(askInput)
		switch in.f {
		case "ask", "request":
			s.asked, s.waits = true, in.waits
			s.cancelled = s.cancelled || !in.isKnown // a server that notices that its client has gone gives the call up
			return true, s
		case "cancel":
			s.cancelled = true
			return true, s
		case "answer", "decide":
			return decided(s, in)
		case "exec":
			s.executed++
			return s.settled == approve && s.executed == 1, s
		case "list":
			return listed(s, in)
		case "look":
			return looked(s, in)
		default:
			return taskSeen(s, in)
		}
	},
	DescribeOperation: func(input, _ interface{}) string { return fmt.Sprintf("%+v", input) },
}

func decided(s askState, in askInput) (bool, interface{}) {
	open := s.asked && s.settled == ""
	switch {
	case !in.isKnown:
		if open {
			s.settled = in.value
		}
		return true, s
	case in.won:
		s.settled = in.value
		return open, s
	case open && s.cancelled: // the client gave it up, so nobody waits for an answer
		s.settled = withdrawn
		return true, s
	default:
		return s.settled != "", s
	}
}

func listed(s askState, in askInput) (bool, interface{}) {
	open := s.asked && s.settled == ""
	if in.present {
		return open, s
	}
	if open && s.cancelled {
		s.settled = withdrawn
		return true, s
	}
	return !open, s
}

func looked(s askState, in askInput) (bool, interface{}) {
	switch in.status {
	case "pending":
		return s.asked && s.settled == "", s
	case "answered":
		return s.settled == in.value && in.value != "", s
	case "withdrawn":
		if s.settled == "" && s.cancelled {
			s.settled = withdrawn
		}
		return s.settled == withdrawn, s
	default:
		return false, s
	}
}

// taskSeen follows a task: it ends once, with what the person said, and says the same ever after.
func taskSeen(s askState, in askInput) (bool, interface{}) {
	open := in.status == "working" || in.status == "input_required"
	if open {
		return s.task == "", s
	}
	seen := fmt.Sprintf("%s %v %s", in.status, in.isError, in.text)
	if s.task != "" {
		return s.task == seen, s
	}
	s.task = seen
	switch {
	case in.status == "cancelled":
		return s.cancelled, s
	case in.isOrder:
		return orderEnded(s, in), s
	case in.value == pendingResult && !s.waits:
		return in.status == "completed" && s.asked, s // as it was when the call ended, however late that is looked at
	default:
		return in.status == "completed" && !in.isError && in.value != "" && s.settled == in.value, s
	}
}

func orderEnded(s askState, in askInput) bool {
	switch {
	case !in.isError:
		return in.status == "completed" && s.executed == 1
	case strings.Contains(in.text, "policy_denied"):
		return s.settled == "deny_continue" && s.executed == 0
	case strings.Contains(in.text, "not known") || strings.Contains(in.text, "uncertain") || strings.Contains(in.text, "unknown"):
		return s.settled == approve || s.settled == "" // interrupted; the product says that it does not know
	default:
		return false
	}
}
