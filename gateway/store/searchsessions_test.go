package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

// findAll returns the sessions that contain a text, page by page, sorted by key, and the number of
// pages.
func findAll(t testing.TB, s *DB, query string, limit int) (keys []protocol.SessionKey, pages int) {
	t.Helper()
	for page := ""; ; {
		list, next, err := s.Search.Sessions(t.Context(), query, page, limit)
		if err != nil || len(list) > limit {
			t.Fatalf("%q: got %d chats, error %v, want at most %d", query, len(list), err, limit)
		}
		for _, f := range list {
			if !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
		}
		if pages++; next == "" || pages > 10_000 {
			slices.Sort(keys)
			return keys, pages
		}
		page = next
	}
}

func chats(n ...int) (keys []protocol.SessionKey) {
	for _, n := range n {
		keys = append(keys, protocol.SessionKey(fmt.Sprintf("agent:main:app:chat:%02d", n)))
	}
	return keys
}

// TestChatsAreFoundPageByPage: every page is returned in time, even if a search of many chats takes
// long, and all pages together contain the results of one long search.
func TestChatsAreFoundPageByPage(t *testing.T) {
	s := openTest(t)
	s.Search.timeCheckEvery = 10
	for i, key := range chats(0, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
		for j := range 60 {
			text := "one two three"
			switch {
			case j == 0:
				text = "hello"
			case i == 2 && j == 1 || i == 7 && j == 50:
				text = "two one"
			}
			must(s.Messages.Append(t.Context(), key, at(int64(1_700_000_000_000+1000*i+j), "user", text)))(t)
		}
		must(s.Sessions.Update(t.Context(), key, func(s *Session) {
			s.LastActiveAt = int64(100 - i)
			switch i {
			case 3, 4:
				s.Label = "Two one"
			case 5:
				s.DeletedAt = 1
			}
		}))(t)
	}
	want := map[string][]protocol.SessionKey{
		"two":       chats(0, 1, 2, 3, 4, 6, 7, 8, 9),
		`"two one"`: chats(2, 7),
		"two one":   chats(0, 1, 2, 3, 4, 6, 7, 8, 9),
		"wo on":     chats(3, 4), // in their label
		`"one one"`: nil,
		"nowhere":   nil,
		"!":         nil,
	}
	for _, limit := range []int{1, 2, 3, 9, 10} {
		for query, want := range want {
			t.Run(query, func(t *testing.T) {
				if got, _ := findAll(t, s, query, limit); !slices.Equal(got, want) {
					t.Errorf("%q by %d: got %v, want %v", query, limit, got, want)
				}
			})
		}
	}
	if got, pages := findAll(t, s, "two", 20); len(got) != 9 || pages != 1 {
		t.Errorf("a small store: got %d chats in %d pages, want 9 in one", len(got), pages)
	}
	first := func(limit int) (keys []protocol.SessionKey) {
		list, _, err := s.Search.Sessions(t.Context(), "two", "", limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			keys = append(keys, f.Key)
		}
		return keys
	}
	if got, want := first(20), chats(3, 4, 9, 8, 7, 6, 2, 1, 0); !slices.Equal(got, want) {
		t.Errorf("in the order %v, want %v", got, want)
	}
	if got, want := first(1), chats(3); !slices.Equal(got, want) {
		t.Errorf("first %v, want %v", got, want)
	}
	s.Search.timeLimit = 1
	for _, limit := range []int{1, 3, 10} {
		for query, want := range want {
			t.Run(query, func(t *testing.T) {
				got, pages := findAll(t, s, query, limit)
				if !slices.Equal(got, want) {
					t.Errorf("%q by %d without time: got %v, want %v", query, limit, got, want)
				}
				if query == `"one one"` && pages < 50 {
					t.Errorf("texts with 59 marks: got %d pages, want at least 50", pages)
				}
			})
		}
	}
}

func TestInvalidPageOfChatsIsRefused(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("word")))(t)
	for _, page := range []string{"n", "0", "x1", "1.", "-99999999999999", "99999999999999999999"} {
		if _, _, err := s.Search.Sessions(t.Context(), "word", page, 5); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%q: got %v; want the error protocol.ErrBadRequest", page, err)
		}
	}
}
