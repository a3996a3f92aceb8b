package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

// conversation stores n messages of the person and an answer to each, and returns them.
func conversation(t *testing.T, s *DB, n int) []protocol.Message {
	t.Helper()
	for i := range n {
		answer := protocol.Message{Role: protocol.RoleAssistant, RunID: "r", Content: protocol.Content{protocol.Text(fmt.Sprint("answer", i))}, Usage: &protocol.Usage{Total: int64(100 + i)}}
		must(s.Messages.Append(t.Context(), key, user(fmt.Sprint("question", i)), answer))(t)
	}
	return must(s.Messages.List(t.Context(), key, 0, 0))(t)
}

func replaceMessages(t *testing.T, s *DB, id protocol.MessageID, run, text string) (Archive, error) {
	t.Helper()
	a, _, err := s.Archives.Replace(t.Context(), id, Run{ID: protocol.RunID(run), Session: key, State: protocol.RunThinking}, user(text), 50)
	return a, err
}

func checkTexts(t *testing.T, s *DB, want ...string) {
	t.Helper()
	if got := texts(t, s); !slices.Equal(got, want) {
		t.Errorf("the chat has %q, want %q", got, want)
	}
	if n := must(s.Sessions.Get(t.Context(), key))(t).MessageCount; n != len(want) {
		t.Errorf("MessageCount = %d, want %d", n, len(want))
	}
}

func matchCount(t *testing.T, s *DB, word string) int {
	t.Helper()
	hits, _, err := s.Search.Messages(t.Context(), word, "", 0, 0, 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	return len(hits)
}

func TestReplacedMessageIsArchivedWithTheFollowing(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 2)
	a := must(replaceMessages(t, s, msgs[2].ID, "r2", "better"))(t)
	checkTexts(t, s, "question0", "answer0", "better")
	if a.Kind != protocol.ArchiveEdit || a.Messages != 2 || matchCount(t, s, "question1") != 0 || matchCount(t, s, "better") != 1 {
		t.Errorf("got archive %+v, matches %d and %d, want 2 messages, 0 and 1", a, matchCount(t, s, "question1"), matchCount(t, s, "better"))
	}
	if r, err := s.Runs.Get(t.Context(), "r2"); err != nil || r.EndedAt != 0 {
		t.Errorf("got run %+v, error %v, want an unfinished one", r, err)
	}
	if old := must(s.Archives.Messages(t.Context(), a, 0, 0))(t); len(old) != 2 || old[0].ID != msgs[2].ID {
		t.Errorf("got %d messages in the archive, want 2", len(old))
	}
	if tokens := must(s.Sessions.Get(t.Context(), key))(t).ContextTokens; tokens != 100 {
		t.Errorf("ContextTokens = %d, want those of the last answer that is left", tokens)
	}

	// The other version comes back, and back again.
	_, old, err := s.Archives.Restore(t.Context(), key, a.ID, 60)
	if err != nil {
		t.Fatal(err)
	}
	checkTexts(t, s, "question0", "answer0", "question1", "answer1")
	if matchCount(t, s, "question1") != 1 || matchCount(t, s, "better") != 0 {
		t.Error("search does not find the version that is shown")
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, old.ID, 70); err != nil {
		t.Fatal(err)
	}
	checkTexts(t, s, "question0", "answer0", "better")
	if _, _, err := s.Archives.Restore(t.Context(), key, a.ID, 80); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("restoring the same archive twice: got error %v, want ErrNotFound", err)
	}
}

// TestFailedReplacementChangesNothing: a run that cannot be stored leaves the messages as they are,
// and so does a kill, because all of it is one transaction.
func TestFailedReplacementChangesNothing(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 1)
	taken := user("taken")
	taken.ID = msgs[1].ID // storing it fails, after the others were removed
	_, _, err := s.Archives.Replace(t.Context(), msgs[0].ID, Run{ID: "r2", Session: key}, taken, 50)
	if err == nil {
		t.Fatal("a message with the ID of another was stored")
	}
	checkTexts(t, s, "question0", "answer0")
	if list := must(s.Archives.List(t.Context(), key))(t); len(list) > 0 {
		t.Errorf("got archives %+v, want none", list)
	}
	if _, err := s.Runs.Get(t.Context(), "r2"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("the run r2: got error %v, want ErrNotFound", err)
	}
}

func TestMessageIsReplacedOnce(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 1)
	must(replaceMessages(t, s, msgs[0].ID, "r2", "one"))(t)
	if _, err := replaceMessages(t, s, msgs[0].ID, "r3", "two"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("replacing the same message twice: got error %v, want ErrNotFound", err)
	}
	if _, err := replaceMessages(t, s, msgs[1].ID, "r3", "two"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("replacing an archived message: got error %v, want ErrNotFound", err)
	}
	checkTexts(t, s, "one")
}

func TestVersionComesBackOnlyWhereItFits(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 2)
	first := must(replaceMessages(t, s, msgs[2].ID, "r2", "b"))(t)
	b := must(s.Messages.List(t.Context(), key, 0, 0))(t)[2]
	must(s.Messages.Append(t.Context(), key, user("c")))(t)
	c := must(s.Messages.List(t.Context(), key, 0, 0))(t)[3]
	second := must(replaceMessages(t, s, c.ID, "r3", "d"))(t) // continues b
	if _, _, err := s.Archives.Restore(t.Context(), key, first.ID, 60); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, second.ID, 70); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("restoring after an archived message: got error %v, want %v (%s)", err, protocol.ErrConflict, b.ID)
	}
	checkTexts(t, s, "question0", "answer0", "question1", "answer1")
	if _, _, err := s.Archives.Reset(t.Context(), key, "s2", 80); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, second.ID, 90); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("restoring a part of an earlier conversation: got error %v, want ErrConflict", err)
	}
}

func TestDeletedMessagesComeBackUntilTheyArePurged(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 2)
	a := must(s.Archives.Delete(t.Context(), key, []protocol.MessageID{msgs[0].ID}, 50))(t)
	checkTexts(t, s, "answer0", "question1", "answer1")
	if title := must(s.Sessions.Get(t.Context(), key))(t).FirstText; title != "question1" {
		t.Errorf("got title %q, want question1", title)
	}
	if _, err := s.Archives.Delete(t.Context(), key, []protocol.MessageID{msgs[1].ID, msgs[0].ID}, 50); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("deleting twice: got error %v, want ErrNotFound", err)
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, a.ID, 60); err != nil {
		t.Fatal(err)
	}
	checkTexts(t, s, "question0", "answer0", "question1", "answer1")

	picture := user("look")
	picture.Content = append(picture.Content, protocol.Block{Type: protocol.BlockImage, MediaKey: "p1"})
	msgs = must(s.Messages.Append(t.Context(), key, picture))(t)
	a = must(s.Archives.Delete(t.Context(), key, []protocol.MessageID{msgs[0].ID}, 50))(t)
	for _, c := range []struct {
		before int64
		want   int
	}{{50, 0}, {51, 1}} {
		if n := must(s.Archives.PurgeDeletions(t.Context(), c.before))(t); n != c.want {
			t.Errorf("purge before %d: %d deletions, want %d", c.before, n, c.want)
		}
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, a.ID, 70); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("restoring a purged archive: got error %v, want ErrNotFound", err)
	}
	if unused := must(s.Media.Unreferenced(t.Context(), []string{"p1"}))(t); len(unused) != 1 {
		t.Error("the picture of a purged message is kept")
	}
	checkTexts(t, s, "question0", "answer0", "question1", "answer1")
}

func TestSummaryStaysThroughEdits(t *testing.T) {
	s := openTest(t)
	msgs := conversation(t, s, 2)
	notice := protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("short")}}
	if _, _, err := s.Archives.Compact(t.Context(), key, 2, 10, notice); err != nil {
		t.Fatal(err)
	}
	if _, err := replaceMessages(t, s, msgs[0].ID, "r2", "x"); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("replacing a summarized message: got error %v, want ErrConflict", err)
	}
	a := must(replaceMessages(t, s, msgs[2].ID, "r2", "x"))(t)
	if got := texts(t, s); !slices.Equal(got, []string{"short", "x"}) {
		t.Errorf("got %q for the model, want short and x", got)
	}
	if must(s.Archives.Uncompact(t.Context(), key, 20))(t) != 2 {
		t.Error("the summary cannot be undone")
	}
	if got := texts(t, s); !slices.Equal(got, []string{"question0", "answer0", "short", "x"}) {
		t.Errorf("got %q for the model, want all", got)
	}
	if _, _, err := s.Archives.Restore(t.Context(), key, a.ID, 30); err != nil {
		t.Error(err)
	}
}

func TestForkIsIndependentOfItsSource(t *testing.T) {
	s := openTest(t)
	conversation(t, s, 3)
	notice := protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("short")}}
	if _, _, err := s.Archives.Compact(t.Context(), key, 2, 10, notice); err != nil {
		t.Fatal(err)
	}
	before := must(s.Sessions.Get(t.Context(), key))(t)
	read := func(key protocol.SessionKey) (list []string) {
		for _, m := range must(s.Messages.List(t.Context(), key, 0, 0))(t) {
			list = append(list, m.Content.Text())
			if m.RunID != "" || m.Usage != nil {
				t.Errorf("%s: got run %q, usage %v, want neither", m.Content.Text(), m.RunID, m.Usage)
			}
		}
		return list
	}
	for through, want := range map[int64][]string{0: nil, 1: {"question0"}, 2: {"question0", "answer0"}, 4: {"short", "question1", "answer1"}} {
		to := protocol.SessionKey(fmt.Sprint("agent:main:fork", through))
		if err := s.Archives.Fork(t.Context(), key, Session{Key: to, Label: "copy", Prefs: protocol.SessionPrefs{MaxTokens: 7}}, through, 20); err != nil {
			t.Fatal(err)
		}
		ses := must(s.Sessions.Get(t.Context(), to))(t)
		if got := read(to); !slices.Equal(got, want) || ses.Label != "copy" || ses.Prefs.MaxTokens != 7 || ses.Usage.Total != 0 {
			t.Errorf("through %d: %q, want %q; %+v", through, got, want, ses)
		}
	}
	if n := must(s.Archives.Uncompact(t.Context(), "agent:main:fork4", 30))(t); n != 2 {
		t.Errorf("undoing the summary of the fork restores %d messages, want 2", n)
	}
	if got := read("agent:main:fork4"); !slices.Equal(got, []string{"question0", "answer0", "short", "question1", "answer1"}) {
		t.Errorf("got %q in the fork, want all", got)
	}
	if after := must(s.Sessions.Get(t.Context(), key))(t); after.MessageCount != before.MessageCount || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("got source %+v, want it unchanged: %+v", after, before)
	}
}
