package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

const never = int64(math.MaxInt64)

// record is a line of a history: with F it begins an operation, without it ends one.
type record struct {
	Op     string          `json:"op"`
	At     int64           `json:"at"`
	Client string          `json:"client"`
	Object string          `json:"object"`
	F      string          `json:"f"`
	In     json.RawMessage `json:"in"`
	Out    json.RawMessage `json:"out"`
}

// operation is one attempt of a client. Its outcome is unknown if End is never.
type operation struct {
	Op, Client, Object, F string
	Call, End             int64
	In, Out               json.RawMessage
}

func (o *operation) String() string {
	return fmt.Sprintf("%s %s %s at %d: %s", o.Op, o.F, o.In, o.Call, o.Out)
}

func (o *operation) known() bool { return o.End != never }

// refused tells whether the server said that it did nothing.
func (o *operation) refused() string {
	var out struct{ Refused *string }
	if o.known() && json.Unmarshal(o.Out, &out) == nil && out.Refused != nil {
		return *out.Refused
	}
	return ""
}

func load(folder string) ([]*operation, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	found := []*operation{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found = append(found, parse(data)...)
	}
	return found, nil
}

// parse reads the lines of one client; a line that a kill has cut was never followed by a request.
func parse(data []byte) []*operation {
	byName, found := map[string]*operation{}, []*operation{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(make([]byte, 1<<20), 1<<28)
	for lines.Scan() {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		if r.F != "" {
			o := &operation{Op: r.Op, Client: r.Client, Object: r.Object, F: r.F, Call: r.At, End: never, In: r.In}
			byName[r.Op] = o
			found = append(found, o)
		} else if o := byName[r.Op]; o != nil {
			o.End, o.Out = r.At, r.Out
		}
	}
	return sentOnes(found)
}

// sentOnes leaves out what was never sent, because nobody listened.
func sentOnes(ops []*operation) []*operation {
	kept := []*operation{}
	for _, o := range ops {
		var out struct{ Void bool }
		if o.known() && json.Unmarshal(o.Out, &out) == nil && out.Void {
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

// kind is the part of an object's name before the slash.
func kind(object string) string {
	before, _, _ := strings.Cut(object, "/")
	return before
}

func decode(raw json.RawMessage, into any) {
	if err := json.Unmarshal(raw, into); err != nil {
		panic(fmt.Sprintf("a history with another shape: %s: %v", raw, err))
	}
}
