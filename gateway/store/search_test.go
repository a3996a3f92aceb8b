package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func at(ms int64, role protocol.Role, text string) protocol.Message {
	return protocol.Message{Role: role, Timestamp: ms, Content: protocol.Content{protocol.Text(text)}}
}

func snippets(t testing.TB, s *DB, query string, key protocol.SessionKey, from, until int64) string {
	t.Helper()
	found, _, err := s.Search.Messages(t.Context(), query, key, from, until, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range found {
		list = append(list, strings.NewReplacer(MarkStart, "[", MarkEnd, "]").Replace(f.Snippet))
	}
	return strings.Join(list, " | ")
}

func TestSearchGivesNewestFirstWithTheWordsMarked(t *testing.T) {
	s := openTest(t)
	s.Search.sinceTimeCheck = 0 // a time check is not in the texts, and the check of the index below would find it
	const other protocol.SessionKey = "agent:main:app:chat:2"
	must(s.Messages.Append(t.Context(), key, at(3000, "user", "Where does the Parser fail?"), at(1000, "assistant", "The parser is fine.")))(t)
	must(s.Messages.Append(t.Context(), other, at(2000, "toolResult", "parse error: Größe\x02 na\u00efve"), at(2000, "user", "日本語の文書を読む")))(t)
	must2x := func(query string, key protocol.SessionKey, from, until int64, want string) {
		t.Helper()
		if got := snippets(t, s, query, key, from, until); got != want {
			t.Errorf("%q: got %s\nwant %s", query, got, want)
		}
	}
	must2x("parser", "", 0, 0, "Where does the [Parser] fail? | The [parser] is fine.")
	must2x("pars", "", 0, 0, "Where does the [Parser] fail? | [parse] error: Größe  naïve | The [parser] is fine.")
	must2x("pars ", "", 0, 0, "")
	must2x(`"the parser" fai`, "", 0, 0, "Where does [the Parser] [fail]?")
	must2x(`"parser the"`, "", 0, 0, "")
	must2x("FINE the", "", 0, 0, "[The] parser is [fine].")
	must2x("GROSSE", "", 0, 0, "")
	must2x("grö naive", "", 0, 0, "")
	must2x("größe NAIVE", "", 0, 0, "parse error: [Größe]  [naïve]")
	must2x("文書", "", 0, 0, "日本語の[文書]を読む")
	must2x("parser", other, 0, 0, "")
	must2x("pars", key, 0, 0, "Where does the [Parser] fail? | The [parser] is fine.")
	must2x("pars", "", 2000, 0, "Where does the [Parser] fail? | [parse] error: Größe  naïve")
	must2x("pars", "", 0, 2000, "The [parser] is fine.")
	for _, nothing := range []string{"", " ", `"`, `""`, "*", "%", "AND", "NOT", "parser OR", "words:parser", "(", "-", "^"} {
		if _, _, err := s.Search.Messages(t.Context(), nothing, "", 0, 0, 0, 10); err != nil {
			t.Errorf("the query %q: got error %v, want none", nothing, err)
		}
	}
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 5 }))(t)
	must2x("pars", "", 0, 0, "[parse] error: Größe  naïve")
	if n := must(s.Sessions.PurgeDeleted(t.Context(), 6))(t); n != 1 {
		t.Fatalf("got %d purged chats, want 1", n)
	}
	must2x("pars", "", 0, 0, "[parse] error: Größe  naïve")
	if err := s.writer.db.Exec("INSERT INTO message_search (message_search, rank) VALUES ('integrity-check', 1)").Error; err != nil {
		t.Errorf("checking the index against the texts: got error %v, want none", err)
	}
}

func TestSearchPagesThroughAllInOrder(t *testing.T) {
	s := openTest(t)
	var msgs []protocol.Message
	for i := range 2500 { // more than fit into one millisecond
		msgs = append(msgs, at(10, "user", fmt.Sprint("same time ", i)))
	}
	must(s.Messages.Append(t.Context(), key, msgs[:1500]...))(t)
	must(s.Messages.Append(t.Context(), key, msgs[1500:]...))(t)
	old, _, err := s.Archives.Reset(t.Context(), key, "second", 20)
	if err != nil {
		t.Fatal(err)
	}
	must(s.Messages.Append(t.Context(), key, at(30, "user", "same again")))(t)
	var got []string
	for before := int64(0); ; {
		page, next, err := s.Search.Messages(t.Context(), "same", "", 0, 0, before, 700)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page {
			if f.Current != (f.SessionID != old.ID) || f.Title != "same again" {
				t.Fatalf("got %+v, want whether it is current, and its title", f)
			}
			got = append(got, f.JSON)
		}
		before = next
		if next == 0 {
			break
		}
	}
	if len(got) != 2501 || !strings.Contains(got[0], "same again") || !strings.Contains(got[1], "same time 2499") || !strings.Contains(got[2500], `same time 0"`) {
		t.Errorf("got %d matches, want 2501, the newest first", len(got))
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != 2501 {
		t.Errorf("%d different ones, want 2501", n)
	}
}

func TestSlowSearchReturnsPages(t *testing.T) {
	s := openTest(t)
	if s.Search.timeLimit != 0 {
		t.Error("a small store is not searched whole")
	}
	s.Search.timeLimit = 1
	for i := range 5 {
		must(s.Messages.Append(t.Context(), key, user(fmt.Sprint("word ", i))))(t)
	}
	var got []string
	before := int64(0)
	for n := 0; ; n++ {
		page, next, err := s.Search.Messages(t.Context(), "word", "", 0, 0, before, 10)
		if err != nil || n > 6 {
			t.Fatalf("got page %d, error %v, want at most 6 pages", n, err)
		}
		for _, f := range page {
			got = append(got, f.Snippet[len(f.Snippet)-1:])
		}
		before = next
		if next == 0 {
			break
		}
	}
	if !slices.Equal(got, []string{"4", "3", "2", "1", "0"}) {
		t.Errorf("got %q, want 4 to 0", got)
	}
}

// TestSearchWithoutMatchesAnswersInTime: the search for a phrase of common words that does
// not occur took as long as a scan of everything.
func TestSearchWithoutMatchesAnswersInTime(t *testing.T) {
	s := openTest(t)
	s.Search.timeCheckEvery = 50
	const texts = 430
	var msgs []protocol.Message
	for i := range texts {
		text := "one two three"
		if i == 5 || i == texts/2 {
			text = "two one 👍"
		}
		// many at one time: times do not reveal their number
		msgs = append(msgs, at(int64(1_700_000_000_000+i/20), "user", text))
	}
	must(s.Messages.Append(t.Context(), key, msgs...))(t)
	all := func(query string, limit int) (ids []int64, pages, empty int) {
		for before := int64(0); ; {
			page, next, err := s.Search.Messages(t.Context(), query, "", 0, 0, before, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range page {
				if before > 0 && f.ID >= before || len(ids) > 0 && f.ID >= ids[len(ids)-1] {
					t.Fatalf("%q: got %d after %d, want a falling order", query, f.ID, before)
				}
				ids = append(ids, f.ID)
			}
			pages++
			if len(page) == 0 {
				empty++
			}
			if next == 0 {
				return ids, pages, empty
			}
			if before > 0 && next >= before {
				t.Fatalf("%q: got %d after %d, want a smaller one", query, next, before)
			}
			before = next
		}
	}
	whole := map[string][]int64{}
	queries := []string{`"two one"`, `"three one"`, "one two", "👍", "👎"}
	for _, query := range queries {
		whole[query], _, _ = all(query, texts)
	}
	if len(whole[`"two one"`]) != 2 || len(whole["👍"]) != 2 || len(whole["one two"]) != texts {
		t.Fatalf("got %d, %d, %d matches, want 2, 2, %d", len(whole[`"two one"`]), len(whole["👍"]), len(whole["one two"]), texts)
	}
	s.Search.timeLimit = 1
	for _, query := range queries {
		ids, pages, empty := all(query, 100)
		if !slices.Equal(ids, whole[query]) {
			t.Errorf("%q: got %d matches, want %d", query, len(ids), len(whole[query]))
		}
		if query[0] == '"' && (pages < 6 || empty < 4) {
			t.Errorf("%q: got %d pages, %d empty, want at least 6, 4", query, pages, empty)
		}
	}
	for i := range 120 {
		must(s.Messages.Append(t.Context(), key, at(int64(1_800_000_000_000+i), "user", "two one at last")))(t)
	}
	if ids, pages, _ := all(`"three one"`, 10); len(ids) != 0 || pages < 8 {
		t.Errorf("after more messages: got %v in %d pages, want none in at least 8", ids, pages)
	}
	s.Search.timeLimit = 0
	if ids, _, _ := all(`"two one"`, 1000); len(ids) != 122 {
		t.Errorf("got %d matches, want 122", len(ids))
	}
	if ids, _, _ := all("mark", 10); len(ids) != 0 {
		t.Errorf("a mark: got %v, want no match", ids)
	}
}

func TestTheWordsThatStandForChatsAreNotFound(t *testing.T) {
	s := openTest(t)
	const chat = protocol.SessionKey("é") // kC3A9
	if _, err := s.Messages.Append(t.Context(), chat, user("look at the kind cabin kab1 kc3 of K9")); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"kc3a9": "", "KC3A9": "", "kc3a": "", "ĸc3a": "", "\u212Ac3a": "", "ḱç3a": "", "k\u0301c3a9": "", `"kc3a9"`: "", "look kc3a9": "", "look (kc3a": "",
		"kab": "look at the kind cabin [kab1] kc3 of K9", "kc3": "look at the kind cabin kab1 [kc3] of K9", "K9": "look at the kind cabin kab1 kc3 of [K9]",
		"kind cab": "look at the [kind] [cabin] kab1 kc3 of K9", "look": "[look] at the kind cabin kab1 kc3 of K9",
	} {
		t.Run(query, func(t *testing.T) {
			for _, in := range []protocol.SessionKey{"", chat} {
				if got := snippets(t, s, query, in, 0, 0); got != want {
					t.Errorf("%q in %q: %q, want %q", query, in, got, want)
				}
			}
			list, _, err := s.Search.Sessions(t.Context(), query, "", 5)
			if found := len(list) > 0; err != nil || found != (want != "") && !strings.Contains("look at the kind cabin kab1 kc3 of k9", strings.ToLower(query)) {
				t.Errorf("chats with %q: got %v, error %v, want %q", query, list, err, want)
			}
		})
	}
	for _, fast := range []string{"w3 w4", `"w3 w4 w5"`, "look", "kind", "make backup", "Kälte kalt kein"} {
		if strings.HasPrefix(strings.Join(textTerms(fast), ""), "words") {
			t.Errorf("%q: got one column, want all", fast)
		}
	}
}

func FuzzSearchTakesAnyText(f *testing.F) {
	for _, s := range []string{`a "b c" d*`, "NEAR(a b)", "words : x", "日本", `""a"`, "a\x00b", "\xff"} {
		f.Add(s)
	}
	s := openTest(f)
	if _, err := s.Messages.Append(f.Context(), key, user("a b c d 日本語")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if _, _, err := s.Search.Messages(t.Context(), query, key, 0, 0, 0, 5); err != nil {
			t.Errorf("the query %q: got error %v, want none", query, err)
		}
		if _, _, err := s.Search.Sessions(t.Context(), query, "", 5); err != nil {
			t.Errorf("the query %q: got error %v, want none", query, err)
		}
	})
}

// BenchmarkSearchMillion searches 1,000,000 messages of 1,000 chats. The goal is at most 50 ms. The
// frequencies of the words are as in real texts.
func BenchmarkSearchMillion(b *testing.B) {
	s := openFilled(b, "messages", fillMessages)
	s.Search.timeLimit = searchTimeLimit // as if it had been opened now
	for _, c := range []struct {
		name, query string
		key         protocol.SessionKey
		from, until int64
	}{
		{name: "rare", query: "needle"},
		{name: "common", query: "w0 w1"},
		{name: "prefix", query: "w1"},
		{name: "nothing", query: "nowhere"},
		{name: "two", query: "w5000 w0"},
		{name: "phrase", query: `"w3 w4 w5"`},
		{name: "commonest phrase", query: `"w0 w0 w0"`},
		{name: "phrase that is nowhere", query: `"w0 w0 w0 w0 w0 w0"`},
		{name: "chat", query: "w0 w1", key: "agent:main:app:chat:77"},
		{name: "old", query: "w0", until: 1_700_000_000_000 + 40_000_000},
		{name: "emoji", query: "👍"},
		{name: "between", query: "w40", from: 1_700_000_000_000 + 1e9, until: 1_700_000_000_000 + 11e8},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Search.Messages(b.Context(), c.query, c.key, c.from, c.until, 0, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, query := range map[string]string{
		"rare": "needle", "common": "w0 w1", "prefix": "w1", "seldom": "w5000 w7000", "phrase": `"w3 w4 w5"`, "phrase that is nowhere": `"w0 w0 w0 w0 w0 w0"`,
	} {
		b.Run("chats/"+name, func(b *testing.B) {
			pages := 0
			for b.Loop() {
				found := map[protocol.SessionKey]bool{}
				for page := ""; len(found) < 50; {
					list, next, err := s.Search.Sessions(b.Context(), query, page, 50)
					if err != nil {
						b.Fatal(err)
					}
					for _, f := range list {
						found[f.Key] = true
					}
					pages++
					page = next
					if next == "" {
						break
					}
				}
			}
			b.ReportMetric(float64(pages)/float64(b.N), "pages/op")
		})
	}
}

// openFilled opens a store that fill has filled. With FAIRLEAD_BENCH_STORES, the store is saved in
// that folder for the next run.
func openFilled(b *testing.B, name string, fill func(*testing.B, *DB)) *DB {
	dir := os.Getenv("FAIRLEAD_BENCH_STORES")
	if dir == "" {
		s := openTest(b)
		fill(b, s)
		return s
	}
	path := filepath.Join(dir, name+".db")
	began := time.Now()
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	b.Logf("opened in %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	fill(b, s)
	b.Logf("filled in %v", time.Since(began).Round(time.Second))
	return s
}

func fillMessages(b *testing.B, s *DB) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 100_000)
	const chats, batch = 1000, 1000
	var have int // of an earlier run that was interrupted
	if err := s.reader.Raw("SELECT count(*) FROM messages").Scan(&have).Error; err != nil {
		b.Fatal(err)
	}
	when := 1_700_000_000_000 + 20_000*int64(have)
	for n := have / batch; n < 1_000_000/batch; n++ {
		msgs := make([]protocol.Message, batch)
		for i := range msgs {
			var text strings.Builder
			for range 6 + r.IntN(20) {
				fmt.Fprintf(&text, "w%d ", zipf.Uint64())
			}
			when += 20_000
			if n == 700 && i == 5 {
				text.WriteString("needle")
			}
			msgs[i] = at(when, "user", text.String())
		}
		if _, err := s.Messages.Append(b.Context(), protocol.SessionKey(fmt.Sprint("agent:main:app:chat:", n%chats)), msgs...); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMessagesDeletedDuringASearchAreLeftOut(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("a"), user("b"), user("c")))(t)
	found, _, err := s.Search.newestMatches(s.reader, []string{"a OR b OR c"}, 0, 1<<62, 10)
	if err != nil || len(found) != 3 {
		t.Fatalf("got %d matches, error %v, want 3", len(found), err)
	}
	if err := s.writer.db.Exec("DELETE FROM messages WHERE seq = 2").Error; err != nil {
		t.Fatal(err)
	}
	if found, err = withMessages(s.reader, found); err != nil || len(found) != 2 || !strings.Contains(found[0].JSON, `"c"`) || found[1].Snippet != MarkStart+"a"+MarkEnd {
		t.Errorf("got %+v, error %v, want c and a", found, err)
	}
}
