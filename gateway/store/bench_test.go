package store

import (
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func BenchmarkAppend(b *testing.B) {
	s := openTest(b)
	for b.Loop() {
		if _, err := s.Messages.Append(b.Context(), key, user("hello")); err != nil {
			b.Fatal(err)
		}
	}
}

// long creates a session of 100,000 messages.
func long(b *testing.B) *DB {
	s := openTest(b)
	batch := make([]protocol.Message, 5000)
	for i := range batch {
		batch[i] = user(strings.Repeat("word ", 40))
	}
	for range 20 {
		if _, err := s.Messages.Append(b.Context(), key, batch...); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkPreview100Of100000(b *testing.B) {
	s := long(b)
	for b.Loop() {
		if m, err := s.Messages.List(b.Context(), key, 0, 100); err != nil || len(m) != 100 {
			b.Fatalf("got %d messages, error %v, want 100", len(m), err)
		}
	}
}

func BenchmarkListOf2000Sessions(b *testing.B) {
	s := openTest(b)
	for i := range 2000 {
		if _, err := s.Sessions.Ensure(b.Context(), protocol.SessionKey(fmt.Sprint("agent:main:app:chat:", i)), int64(i)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if l, _, err := s.Sessions.List(b.Context(), 0, 100); err != nil || len(l) != 100 {
			b.Fatalf("got %d chats, error %v, want 100", len(l), err)
		}
	}
}
