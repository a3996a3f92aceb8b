package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"
)

// fakeMac simulates macOS: its notification center, and plain notifications.
type fakeMac struct {
	tell func(event)

	mu       sync.Mutex
	may      permission
	silent   bool // it does not answer
	isLocked bool
	did      []string
	up       map[string]Message
}

func (b *fakeMac) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.did = append(b.did, fmt.Sprintf(format, args...))
}

// has checks the actions since the last call.
func (b *fakeMac) has(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got, want := strings.Join(b.did, "; "), strings.Join(want, "; "); got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	b.did = nil
}

func (b *fakeMac) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *fakeMac) rights(context.Context) (permission, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.silent {
		return 0, errors.New("no answer")
	}
	return b.may, nil
}

func (b *fakeMac) ask() { b.note("ask") }

func (b *fakeMac) post(_ context.Context, name string, m Message) error {
	b.note("post %s %q deny %v", name, m.Body, m.Deny)
	b.set(func() { b.up[name] = m })
	return nil
}

func (b *fakeMac) take(name string) {
	if _, ok := b.up[name]; ok {
		b.note("take %s", name)
		b.set(func() { delete(b.up, name) })
	}
}

func (b *fakeMac) close() { b.note("close") }

// plainNotifier shows notifications without buttons.
type plainNotifier struct{ b *fakeMac }

func (p plainNotifier) show(_ context.Context, m Message) error {
	p.b.note("plain %q", m.Body)
	return nil
}
func (plainNotifier) remove(context.Context, string) {}
func (plainNotifier) close()                         {}
func (p plainNotifier) locked(context.Context) bool {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return p.b.isLocked
}

// withFakeMac runs a test with a notifier whose system is a board.
func withFakeMac(t *testing.T, may permission, test func(t *testing.T, n *Notifier, b *fakeMac)) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeMac{may: may, up: make(map[string]Message)}
		open := func(a Actions) (system, error) {
			return openCenter(func(tell func(event)) center { b.tell = tell; return b }, plainNotifier{b}, a), nil
		}
		n := start(open, Actions{
			Review: func(id string) { b.note("review %s", id) }, Deny: func(id string) { b.note("denied %s", id) },
			Allow: func(id string) { b.note("allowed %s", id) },
			Shown: func(id string) { b.note("shown %s", id) }, Disabled: func(string) { b.note("off") },
		}, slog.New(slog.DiscardHandler))
		test(t, n, b)
		n.Close()
	})
}

func TestNotificationsWaitUntilThePersonAllowsThem(t *testing.T) {
	withFakeMac(t, undecided, func(t *testing.T, n *Notifier, b *fakeMac) {
		n.Show(Message{ID: "a", Body: "A"})
		n.Show(Message{ID: "b", Body: "B"})
		n.Show(Message{ID: "c", Body: "C"})
		n.Show(Message{ID: "b", Body: "B again", Deny: true})
		n.Remove("a")
		b.has(t, "ask") // once
		b.set(func() { b.may = granted })
		b.tell(event{what: answerYes})
		b.has(t, `post fairlead-c "C" deny false`, "shown c", `post fairlead-b "B again" deny true`, "shown b")
		b.tell(event{what: answerYes})
		b.has(t)
		n.Remove("c")
		b.has(t, "take fairlead-c")
		n.Close()
		b.has(t, "take fairlead-b", "close")
	})
}

func TestRefusalIsReportedOnceWithoutAFallback(t *testing.T) {
	for _, answer := range []string{answerNo, answerFailed} { // macOS reports a denial in both ways
		withFakeMac(t, undecided, func(t *testing.T, n *Notifier, b *fakeMac) {
			n.Show(Message{ID: "a"})
			b.has(t, "ask")
			b.set(func() { b.may = refused })
			b.tell(event{what: answer})
			b.has(t, "off")
			n.Show(Message{ID: "b"})
			b.has(t)
			b.set(func() { b.may = granted }) // in the settings, later
			n.Show(Message{ID: "c"})
			b.has(t, `post fairlead-c "" deny false`, "shown c")
		})
	}
}

func TestProgramWithoutANotificationCenterShowsPlainOnes(t *testing.T) {
	withFakeMac(t, undecided, func(t *testing.T, n *Notifier, b *fakeMac) {
		n.Show(Message{ID: "a", Body: "A"})
		b.has(t, "ask")
		b.tell(event{what: answerFailed})
		b.has(t, `plain "A"`, "shown a")
		n.Show(Message{ID: "b", Body: "B"})
		b.has(t, `plain "B"`, "shown b")
	})
}

func TestButtonsInACenterDoWhatTheySay(t *testing.T) {
	withFakeMac(t, granted, func(t *testing.T, n *Notifier, b *fakeMac) {
		for _, what := range []string{keyReview, keyDefault, keyDeny, keyAllow, "unknown", "com.apple.UNNotificationDismissActionIdentifier"} {
			n.Show(Message{ID: what, Deny: true})
		}
		synctest.Wait()
		b.set(func() { b.did = nil })
		for _, what := range []string{keyReview, keyDefault, keyDeny, keyAllow, "unknown", "com.apple.UNNotificationDismissActionIdentifier"} {
			b.tell(event{what, "fairlead-" + what})
			b.tell(event{what, "fyne-notify-1"}) // a library's
			b.tell(event{what, "fairlead-of an earlier run"})
		}
		b.has(t, "review review", "review default", "denied deny", "allowed allow")
		b.tell(event{keyDeny, "fairlead-deny"}) // it is gone
		b.has(t)
	})
}

func TestNotificationKeptOffTheScreenWasNotShown(t *testing.T) {
	withFakeMac(t, quiet, func(t *testing.T, n *Notifier, b *fakeMac) {
		n.Show(Message{ID: "a"})
		b.has(t, `post fairlead-a "" deny false`)
		b.set(func() { b.silent = true })
		n.Show(Message{ID: "b"})
		b.has(t)
	})
}

func TestALockedScreenHidesWhatACenterShows(t *testing.T) {
	withFakeMac(t, undecided, func(t *testing.T, n *Notifier, b *fakeMac) {
		b.set(func() { b.isLocked = true })
		n.Show(Message{ID: "a", Body: "secret", Deny: true})
		n.Show(Message{ID: "b", Body: "secret", Deny: true})
		b.has(t, "ask")
		b.set(func() { b.may = granted })
		n.Show(Message{ID: "a", Body: "secret", Deny: true})
		b.has(t, `post fairlead-a "Unlock the screen to see more." deny false`)
		b.set(func() { b.isLocked = false })
		b.tell(event{what: answerYes})
		b.has(t, `post fairlead-b "secret" deny true`, "shown b")
	})
}

// TestNotificationTextsAreValidCStrings checks texts that C or macOS would reject, which would
// crash the program.
func TestNotificationTextsAreValidCStrings(t *testing.T) {
	const evil = "a\x00b\xff\x1b\u202e\n" + "%s"
	withFakeMac(t, granted, func(t *testing.T, n *Notifier, b *fakeMac) {
		n.Show(Message{ID: evil, Title: evil, Body: strings.Repeat(evil, 1000)})
		synctest.Wait()
		for name, m := range b.up {
			for _, s := range []string{name, m.Title, m.Body} {
				if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || s == "" || len(s) > 2000 {
					t.Errorf("got %q; want valid UTF-8, no 0, some text and length at most 2000", s)
				}
			}
		}
		if len(b.up) != 1 {
			t.Errorf("got %v; want 1 entry", b.up)
		}
	})
	for _, c := range []struct {
		status, style int
		want          permission
	}{{0, 0, undecided}, {0, 1, undecided}, {1, 1, refused}, {2, 0, quiet}, {2, 1, granted}, {2, 2, granted}, {3, 1, granted}} {
		if got := permissionOf(c.status, c.style); got != c.want {
			t.Errorf("status %d, style %d: %v, want %v", c.status, c.style, got, c.want)
		}
	}
}
