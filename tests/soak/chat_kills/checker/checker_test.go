package main

import (
	"fmt"
	"strings"
	"testing"
)

// A step is one operation: its object, function, arguments and answer; "" as the answer leaves the outcome unknown.
type step struct{ object, f, in, out string }

// oneAfterAnother returns the history of steps of which each begins after the one before has ended.
func oneAfterAnother(steps []step) []*operation {
	lines := []string{}
	for place, s := range steps {
		begin := `{"op": "c:%d", "at": %d, "client": "c", "object": %q, "f": %q, "in": %s}`
		lines = append(lines, fmt.Sprintf(begin, place, 10*place, s.object, s.f, s.in))
		if s.out != "" {
			lines = append(lines, fmt.Sprintf(`{"op": "c:%d", "at": %d, "out": %s}`, place, 10*place+5, s.out))
		}
	}
	return parse([]byte(strings.Join(lines, "\n")))
}

func post(key, id string) step {
	out := fmt.Sprintf(`{"id": %q}`, id)
	if id == "" {
		out = ""
	}
	return step{"talk/t", "post", fmt.Sprintf(`{"key": %q, "author": "user"}`, key), out}
}

// read is a look at a conversation after an id; the messages are "id:key".
func read(after string, messages ...string) step {
	return step{"talk/t", "read", fmt.Sprintf(`{"after": %q, "authors": []}`, after), pageText(messages...)}
}

// finish is a look after the mark, moved to an id, in a conversation whose newest message is `head`.
func finish(ack, head string, messages ...string) step {
	out := strings.Replace(pageText(messages...), `"head": ""`, fmt.Sprintf(`"head": %q`, head), 1)
	return step{"talk/t", "advance", fmt.Sprintf(`{"ack": %q}`, ack), out}
}

func pageText(messages ...string) string {
	rows, last := []string{}, ""
	for _, one := range messages {
		id, key, _ := strings.Cut(one, ":")
		rows, last = append(rows, fmt.Sprintf(`[%q, "user", %q]`, id, key)), id
	}
	return fmt.Sprintf(`{"messages": [%s], "last": %q, "head": %q, "more": false}`, strings.Join(rows, ", "), last, last)
}

func toAgent(author, id, key string) step {
	if author == "user" {
		return step{"talk/agent", "post", fmt.Sprintf(`{"key": %q, "author": "user"}`, key), fmt.Sprintf(`{"id": %q}`, id)}
	}
	out := fmt.Sprintf(`{"messages": [[%q, "assistant", %q]], "last": %q, "head": %q, "more": false}`, id, key, id, id)
	return step{"talk/agent", "read", `{"after": "1", "authors": ["assistant"]}`, out}
}

func ask() step {
	return step{"question/q", "ask", `{"task": false}`, `{"id": "1", "status": "pending", "value": null}`}
}
func askSlowly() step         { return step{"question/q", "ask", `{"task": false}`, `{"task": "t"}`} }
func askTask() step           { return step{"question/q", "ask", `{"task": true}`, `{"task": "t"}`} }
func inList(keys string) step { return step{"questions", "list", `{}`, `{"keys": [` + keys + `]}`} }

func answer(value string, won bool) step {
	return step{"question/q", "answer", fmt.Sprintf(`{"value": %q}`, value), fmt.Sprintf(`{"won": %v}`, won)}
}

func look(status, value string) step {
	return step{"question/q", "look", `{}`, fmt.Sprintf(`{"id": "1", "status": %q, "value": %s}`, status, value)}
}

func task(status, question, value string) step {
	out := fmt.Sprintf(`{"status": %q}`, status)
	if question != "" {
		out = fmt.Sprintf(`{"status": %q, "error": false, "text": %q, "question": %q, "value": %q}`, status, value, question, value)
	}
	return step{"question/q", "task", `{"task": "t"}`, out}
}

func order() step      { return step{"order/o", "request", `{}`, `{"task": "t"}`} }
func carriedOut() step { return step{"order/o", "exec", `{}`, `{}`} }

func decide(decision string, won bool) step {
	return step{"order/o", "decide", fmt.Sprintf(`{"decision": %q}`, decision), fmt.Sprintf(`{"won": %v}`, won)}
}

func orderTask(status string, isError bool, text string) step {
	out := fmt.Sprintf(`{"status": %q, "error": %v, "text": %q}`, status, isError, text)
	return step{"order/o", "task", `{"task": "t"}`, out}
}

func put(digest string) step {
	return step{"file/d", "put", `{}`, fmt.Sprintf(`{"digest": %q}`, digest)}
}
func get(digest string) step {
	return step{"file/d", "get", `{}`, fmt.Sprintf(`{"digest": %q}`, digest)}
}

func send(key, digest string) step {
	return step{"files/f", "send", fmt.Sprintf(`{"key": %q, "digest": %q}`, key, digest), `{"ok": true}`}
}

func conversation(messages string) step {
	return step{"files/f", "read", `{}`, `{"messages": [` + messages + `]}`}
}

func TestWhatIsRightIsAccepted(t *testing.T) {
	for name, steps := range map[string][]step{
		"posted, repeated, read":                  {post("a", ""), post("a", "1"), post("a", "1"), post("b", "2"), read("", "1:a", "2:b")},
		"a post of unknown outcome is never seen": {post("a", ""), read("")},
		"or is seen later":                        {post("a", ""), read(""), post("a", "1"), read("", "1:a")},
		"the mark":                                {post("a", "1"), post("b", "2"), finish("", "2", "1:a", "2:b"), finish("1", "2", "2:b"), finish("", "2", "2:b"), finish("2", "2")},
		"an answered message":                     {toAgent("user", "1", "k"), toAgent("assistant", "2", "re:k")},
		"answered once":                           {ask(), inList(`"q"`), answer("x", true), answer("y", false), inList(""), look("answered", `"x"`)},
		"a task":                                  {askTask(), task("input_required", "", ""), answer("x", true), task("completed", "answered", "x"), task("completed", "answered", "x")},
		"a slow call that does not wait":          {askSlowly(), answer("x", true), task("completed", "pending", ""), task("completed", "pending", "")},
		"cancelled":                               {askTask(), {"question/q", "cancel", `{"task": "t"}`, `{"ok": true}`}, task("cancelled", "", "")},
		"approved":                                {order(), decide("approve", true), carriedOut(), orderTask("completed", false, "made")},
		"denied":                                  {order(), decide("deny_continue", true), orderTask("completed", true, "policy_denied")},
		"cut off":                                 {order(), decide("approve", true), carriedOut(), orderTask("completed", true, "its outcome is unknown")},
		"a file":                                  {get(""), put("d"), get("d")},
		"a message with a file":                   {send("k", "d"), send("k", "d"), conversation(`["k", "d"]`)},
	} {
		if faults := judge(oneAfterAnother(steps)); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

func TestWhatIsWrongIsRejected(t *testing.T) {
	for name, steps := range map[string][]step{
		"lost":                           {post("a", "1"), post("b", "2"), read("", "2:b")},
		"stale":                          {post("a", "1"), read("")},
		"seen, then gone":                {post("a", ""), read("", "1:a"), read("")},
		"doubled":                        {post("a", "1"), post("a", "2")},
		"doubled in a page":              {post("a", "1"), read("", "1:a", "1:a")},
		"reordered in a page":            {post("a", "1"), post("b", "2"), read("", "2:b", "1:a")},
		"reordered in time":              {post("a", "2"), post("b", "1"), read("", "1:b", "2:a")},
		"a late one before the last":     {post("a", "1"), post("c", "3"), read("", "1:a", "3:c"), post("b", "2")},
		"nobody posted it":               {post("a", "1"), read("", "1:a", "2:x")},
		"the mark is forgotten":          {post("a", "1"), finish("1", "1"), finish("", "1", "1:a")},
		"the mark is ahead":              {post("a", "1"), finish("", "1")},
		"the agent is silent":            {toAgent("user", "1", "k")},
		"the agent answers twice":        {toAgent("user", "1", "k"), toAgent("assistant", "2", "re:k"), toAgent("assistant", "3", "re:k,j")},
		"answered twice":                 {ask(), answer("x", true), answer("y", true)},
		"answered, told to be late":      {ask(), answer("x", false), inList(`"q"`)},
		"another answer":                 {ask(), answer("x", true), look("answered", `"y"`)},
		"still open when answered":       {ask(), answer("x", true), look("pending", "null")},
		"listed when answered":           {ask(), answer("x", true), inList(`"q"`)},
		"not listed when open":           {ask(), inList("")},
		"listed twice":                   {ask(), inList(`"q", "q"`)},
		"nobody asked it":                {ask(), inList(`"q", "z"`)},
		"a task that ends without cause": {askTask(), task("completed", "answered", "x")},
		"a task of another answer":       {askTask(), answer("x", true), task("completed", "answered", "y")},
		"a task that does not wait":      {askTask(), answer("x", true), task("completed", "pending", "")},
		"a lost task":                    {askTask(), answer("x", true), {"question/q", "task", `{"task": "t"}`, `{"status": "completed", "error": true, "text": "its result is lost"}`}},
		"a task that ends twice":         {askTask(), answer("x", true), task("completed", "answered", "x"), task("working", "", "")},
		"a task cancelled by nobody":     {askTask(), task("cancelled", "", "")},
		"carried out twice":              {order(), decide("approve", true), carriedOut(), carriedOut()},
		"carried out before":             {order(), carriedOut(), decide("approve", true)},
		"carried out although denied":    {order(), decide("deny_continue", true), carriedOut()},
		"decided twice":                  {order(), decide("approve", true), decide("deny_continue", true)},
		"said to be done":                {order(), decide("approve", true), orderTask("completed", false, "made")},
		"denied by nobody":               {order(), orderTask("completed", true, "policy_denied")},
		"a lost file":                    {put("d"), get("")},
		"another file":                   {put("d"), get("e")},
		"stored as another":              {put("e")},
		"a lost message with a file":     {send("k", "d"), send("l", "e"), conversation(`["l", "e"]`)},
		"a doubled message with a file":  {send("k", "d"), conversation(`["k", "d"], ["k", "d"]`)},
		"a message with another file":    {send("k", "d"), conversation(`["k", "e"]`)},
		"messages with files reordered":  {send("k", "d"), send("l", "e"), conversation(`["l", "e"], ["k", "d"]`)},
	} {
		if faults := judge(oneAfterAnother(steps)); len(faults) == 0 {
			t.Errorf("%s: accepted", name)
		}
	}
}
