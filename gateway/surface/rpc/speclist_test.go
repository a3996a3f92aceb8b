package rpc_test

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
)

// field is one line of a table in testdata.
type field struct {
	name     string
	optional bool
	kind     string
}

// block is a method, an event or a type in testdata.
type block struct {
	name           string
	senders        []string
	params, fields []field // fields are those of a result, an event or a type
	any            bool    // the result is what the tool gives
}

// spec is a specification list in testdata.
type spec struct {
	methods, events, types, tools map[string]*block
	order                         []string // of the tools
}

func readProtocol(t testing.TB) spec { return readList(t, "testdata/spec-protocol.txt") }

func readList(t testing.TB, path string) spec {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := spec{methods: map[string]*block{}, events: map[string]*block{}, types: map[string]*block{}, tools: map[string]*block{}}
	var b *block
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		line := lines.Text()
		w := strings.Fields(line)
		if len(w) == 0 || w[0][0] == '#' {
			continue
		}
		into, known := map[string]map[string]*block{"method": s.methods, "event": s.events, "type": s.types, "tool": s.tools}[w[0]]
		if known && line[0] != ' ' {
			b = &block{name: w[1], senders: w[2:]}
			into[b.name] = b
			if w[0] == "tool" {
				s.order = append(s.order, b.name)
			}
			continue
		}
		if b == nil || len(w) < 2 {
			t.Fatalf("got line %q, want a method and its sender", line)
			return s
		}
		list := &b.fields
		switch w[0] {
		case ">":
			list, w = &b.params, w[1:]
		case "<":
			w = w[1:]
		}
		if w[0] == "*" {
			b.any = true
			continue
		}
		name, optional := strings.CutSuffix(w[0], "?")
		*list = append(*list, field{name, optional, strings.Join(w[1:], " ")})
	}
	return s
}
