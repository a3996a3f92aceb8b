package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// ask sends the form with which a visitor asks for access, and returns what the visitor sees then.
func (s *site) ask(t *testing.T, b *http.Client, v protocol.Service, email, message string) (int, string) {
	t.Helper()
	return read(t)(b.PostForm(v.URL+askPath, url.Values{"email": {email}, "message": {message}}))
}

// pending returns the pending questions about visitors.
func (s *site) pending(t *testing.T) []protocol.Question {
	t.Helper()
	list, err := s.questions.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// decide answers the only question about a visitor, and returns it.
func (s *site) decide(t *testing.T, decision, duration string) protocol.Question {
	t.Helper()
	list := s.pending(t)
	if len(list) != 1 {
		t.Fatalf("got %d questions, want one", len(list))
	}
	r, err := s.questions.Answer(t.Context(), auth.Owner("test"), protocol.QuestionAnswerParams{ID: list[0].ID, Hash: list[0].Hash, Decision: decision, For: duration})
	if err != nil || !r.Won {
		t.Fatalf("the answer: got %+v, %v; want it to win", r, err)
	}
	return r.Question
}

// wantPage checks what a browser sees at a service.
func wantPage(t *testing.T, b *http.Client, v protocol.Service, status int, text string) {
	t.Helper()
	if got, body := read(t)(b.Get(v.URL)); got != status || !strings.Contains(body, text) {
		t.Errorf("got %d %q, want %d and %q", got, body, status, text)
	}
}

// inMemory runs a test in a bubble, with a site whose app says hello, and streams at /stream until
// the visitor is cut.
func inMemory(t *testing.T, f func(*testing.T, *site)) {
	synctest.Test(t, func(t *testing.T) {
		f(t, newSiteInMemory(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			hello(w, r)
		}))
	})
}

// stream opens an endless answer of the app, and returns a channel that gets its end.
func stream(t *testing.T, b *http.Client, v protocol.Service) <-chan error {
	t.Helper()
	r, err := b.Get(v.URL + "/stream")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("the stream: got %v, %v; want it open", r, err)
	}
	end := make(chan error, 1)
	go func() {
		defer r.Body.Close()
		_, err := io.ReadAll(r.Body)
		end <- err
	}()
	return end
}

// wantEnd checks that a stream ends without a proper end, within a time.
func wantEnd(t *testing.T, end <-chan error, within time.Duration) {
	t.Helper()
	select {
	case err := <-end:
		if err == nil {
			t.Error("got a proper end of the stream, want a broken connection")
		}
	case <-time.After(within):
		t.Errorf("the stream is still open after %s", within)
	}
}

func TestAVisitorIsLetInForExactlyTheTimeOfTheAnswer(t *testing.T) {
	for _, c := range []struct {
		duration string
		want     time.Duration
		list     []string
	}{
		{"", time.Hour, []string{}},
		{protocol.VisitHour, time.Hour, []string{}},
		{protocol.VisitDay, 24 * time.Hour, []string{}},
		{protocol.VisitAlways, visitLife, []string{"ann@example.com"}},
	} {
		t.Run(c.duration, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *site) {
				v := s.publish(t, "3000", nil)
				b, other := s.browser(t), s.browser(t)
				wantPage(t, b, v, http.StatusUnauthorized, "Sign in")
				if status, text := s.ask(t, b, v, " Ann@Example.com", "It is Ann"); status != http.StatusUnauthorized || !strings.Contains(text, "has been asked") {
					t.Errorf("after the form: got %d %q, want the page that waits", status, text)
				}
				time.Sleep(time.Minute)
				wantPage(t, b, v, http.StatusUnauthorized, "has been asked")
				q := s.decide(t, protocol.DecisionAllow, c.duration)
				if x := q.Visit; x.Email != "ann@example.com" || x.Verified != "" || x.Message != "It is Ann" || x.Title != "The app" || x.URL != v.URL || x.From == "" || q.Node != "nas" {
					t.Errorf("the question is about %+v on %s, want who asks, from where, and the app", x, q.Node)
				}
				wantPage(t, b, v, http.StatusOK, "hello")
				wantPage(t, other, v, http.StatusUnauthorized, "Sign in")
				if got, _ := s.Get(v.ID); !slices.Equal(got.Visitors, c.list) {
					t.Errorf("the list is %q, want %q", got.Visitors, c.list)
				}
				end := stream(t, b, v)
				time.Sleep(c.want - time.Second)
				wantPage(t, b, v, http.StatusOK, "hello")
				time.Sleep(time.Second)
				wantEnd(t, end, time.Second)
				wantPage(t, b, v, http.StatusUnauthorized, "Sign in")
			})
		})
	}
}

func TestADeniedVisitorIsToldAndMayAskAgainAfterADay(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", nil)
		b := s.browser(t)
		s.ask(t, b, v, "ann@example.com", "")
		s.decide(t, protocol.DecisionDeny, "")
		wantPage(t, b, v, http.StatusForbidden, "The owner said no")
		if r, err := b.PostForm(v.URL+leavePath, nil); err == nil { // which would forget the sign-in
			r.Body.Close()
		}
		for name, b := range map[string]*http.Client{"the same browser": b, "another one": s.browser(t)} {
			if status, text := s.ask(t, b, v, "ann@example.com", ""); status < 400 {
				t.Errorf("%s asks again and gets %d %q, want a refusal", name, status, text)
			}
		}
		if list := s.pending(t); len(list) > 0 {
			t.Errorf("got the questions %+v, want none", list)
		}
		time.Sleep(deniedFor)
		wantPage(t, b, v, http.StatusUnauthorized, "Sign in")
		s.ask(t, b, v, "ann@example.com", "")
		s.decide(t, protocol.DecisionAllow, "")
		wantPage(t, b, v, http.StatusOK, "hello")
	})
}

func TestAQuestionThatNobodyAnswersEndsAfterADay(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", nil)
		b := s.browser(t)
		s.ask(t, b, v, "ann@example.com", "")
		time.Sleep(requestLife + time.Second)
		wantPage(t, b, v, http.StatusUnauthorized, "Sign in")
		if list := s.pending(t); len(list) > 0 {
			t.Errorf("got the questions %+v, want none", list)
		}
	})
}

// TestAnAnswerLetsInOnlyWhoAsked has somebody else ask with the same address, and take the cookie
// of the one who waits to another service.
func TestAnAnswerLetsInOnlyWhoAsked(t *testing.T) {
	s := newSite(t)
	srv := app(t, hello)
	v, other := s.publish(t, srv.URL, nil), s.publish(t, srv.URL, nil)
	b, thief := s.browser(t), s.browser(t)
	s.ask(t, b, v, "ann@example.com", "")
	if status, text := s.ask(t, thief, v, "ANN@example.com", ""); status != http.StatusTooManyRequests || strings.Contains(text, "example.com") {
		t.Errorf("a second request for the address: got %d %q, want 429", status, text)
	}
	here, _ := url.Parse(v.URL)
	there, _ := url.Parse(other.URL)
	thief.Jar.SetCookies(there, b.Jar.Cookies(here))
	for _, when := range []string{"while it waits", "after the answer"} {
		if status, text := read(t)(thief.Get(other.URL)); status != http.StatusUnauthorized || !strings.Contains(text, "Sign in") {
			t.Errorf("%s, the cookie at another service gets %d %q, want 401 and its own page", when, status, text)
		}
		if when == "while it waits" {
			s.decide(t, protocol.DecisionAllow, protocol.VisitAlways)
		}
	}
	wantPage(t, b, v, http.StatusOK, "hello")
	wantPage(t, thief, v, http.StatusUnauthorized, "Sign in")
	rows, err := s.db.Services.Visits(t.Context(), v.ID, 0)
	if secret := b.Jar.Cookies(here)[0].Value; err != nil || len(rows) != 1 || strings.Contains(fmt.Sprint(rows), secret) {
		t.Errorf("stored: got %+v, %v; want one sign-in without its secret", rows, err)
	}
}

func TestAFormOfAnotherSiteAsksNobody(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	for name, value := range map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
		r, _ := http.NewRequest("POST", v.URL+askPath, strings.NewReader("email=ann@example.com"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(name, value)
		if status, text := read(t)(s.browser(t).Do(r)); status != http.StatusForbidden {
			t.Errorf("%s %s: got %d %q, want 403", name, value, status, text)
		}
	}
	if list := s.pending(t); len(list) > 0 {
		t.Errorf("got the questions %+v, want none", list)
	}
}

func TestWhatAVisitorWritesIsPlainText(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	s.ask(t, s.browser(t), v, "ann@example.com", "<script>alert(1)</script>\n\x1b[31mred\u202eevil "+strings.Repeat("x", 1000))
	got := s.pending(t)[0].Visit.Message
	if !strings.HasPrefix(got, "<script>alert(1)</script> redevil xxx") || len([]rune(got)) > maxMessage {
		t.Errorf("the message is %q, want one line of at most %d characters without control characters", got, maxMessage)
	}
	for _, email := range []string{`"><script>alert(1)</script>@example.com`, "*@example.com", "nobody", "", "a@b@c"} {
		r, _ := http.NewRequest("POST", v.URL+askPath, strings.NewReader(url.Values{"email": {email}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		if status, text := read(t)(s.browser(t).Do(r)); status != http.StatusBadRequest || strings.Contains(text, "<script") || !strings.Contains(text, `role="alert"`) {
			t.Errorf("%q: got %d %s, want 400 and the form with the problem, as text", email, status, text)
		}
	}
	if n := len(s.pending(t)); n != 1 {
		t.Errorf("got %d questions, want the first alone", n)
	}
}

// TestAFloodOfRequestsLeavesTheQueueShort asks with many addresses, from one network address and
// from many, at several services.
func TestAFloodOfRequestsLeavesTheQueueShort(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	for i := range 20 {
		if status, text := s.ask(t, s.browser(t), v, fmt.Sprintf("a%d@example.com", i), ""); i >= maxOfSource && status != http.StatusTooManyRequests {
			t.Fatalf("request %d of one source: got %d %q, want 429", i, status, text)
		}
	}
	if n := len(s.pending(t)); n != maxOfSource {
		t.Errorf("of one source: got %d questions, want %d", n, maxOfSource)
	}
	flood := func(verified string) {
		for i := range 20 {
			for j := range 10 {
				w := v
				if i > 0 {
					w = s.publish(t, "3000", nil)
				}
				s.site.requests.ask(t.Context(), w, protocol.VisitSubject{Email: fmt.Sprintf("b%d-%d@example.com", i, j), From: fmt.Sprintf("2001:db8:%d:%d::1", i, j), Verified: verified})
			}
			if i == 0 && verified == "" {
				if n := len(s.pending(t)); n != maxOfService {
					t.Errorf("of one service: got %d questions, want %d", n, maxOfService)
				}
				_, err := s.site.requests.ask(t.Context(), v, protocol.VisitSubject{Email: "real@example.com", From: "192.0.2.9", Verified: "Google"})
				if err != nil {
					t.Errorf("somebody who has proven the address: got %v, want to be asked about in spite of the flood", err)
				}
			}
		}
	}
	flood("")
	if n := len(s.pending(t)); n != maxRequests {
		t.Errorf("of all services: got %d questions, want %d", n, maxRequests)
	}
	if a, b := sourceOf("2001:db8:1:2::1"), sourceOf("2001:db8:1:2:ffff::9%eth0"); a != b {
		t.Errorf("two addresses of one network count as %s and %s, want one source", a, b)
	}
}

func TestARequestSurvivesARestart(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.browser(t)
	s.ask(t, b, v, "ann@example.com", "")
	before := s.pending(t)[0]
	s.reload(t)
	if after := s.pending(t); len(after) != 1 || after[0].ID != before.ID || after[0].Hash != before.Hash {
		t.Fatalf("got %+v, want the same question", after)
	}
	if err := s.questions.CancelOrphans(t.Context(), time.Now(), func(protocol.RunID) bool { return false }); err != nil {
		t.Fatal(err)
	}
	wantPage(t, b, v, http.StatusUnauthorized, "has been asked")
	s.decide(t, protocol.DecisionAllow, protocol.VisitDay)
	s.reload(t)
	wantPage(t, b, v, http.StatusOK, "hello")
}

// fullStore stores no visits.
type fullStore struct{ *store.Services }

func (fullStore) PutVisit(context.Context, store.Visit, int64) error { return protocol.ErrStorage }

func TestAnAnswerThatIsNotStoredLetsNobodyIn(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.browser(t)
	s.ask(t, b, v, "ann@example.com", "")
	s.site.requests.store = fullStore{s.db.Services}
	q := s.pending(t)[0]
	for _, c := range []struct {
		duration string
		want     error
	}{{protocol.VisitHour, protocol.ErrStorage}, {"month", protocol.ErrBadRequest}} {
		_, err := s.questions.Answer(t.Context(), auth.Owner("test"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, For: c.duration})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.duration, err, c.want)
		}
	}
	wantPage(t, b, v, http.StatusUnauthorized, "has been asked")
	s.site.requests.store = s.db.Services
	s.decide(t, protocol.DecisionAllow, protocol.VisitHour)
	wantPage(t, b, v, http.StatusOK, "hello")
	if status, text := s.ask(t, s.browser(t), v, "bob@example.com", ""); status != http.StatusUnauthorized {
		t.Errorf("the next request: got %d %q, want it to wait", status, text)
	}
}

// TestAKnownVisitorAsksWithTheirOwnAddress takes somebody off the list who then asks again, and
// claims to be somebody else.
func TestAKnownVisitorAsksWithTheirOwnAddress(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"ann@example.com"} })
	b := s.enter(t, v, "ann@example.com")
	if _, err := s.Share(t.Context(), v.ID, ShareRevoke, nil, "owner"); err != nil {
		t.Fatal(err)
	}
	wantPage(t, b, v, http.StatusForbidden, "ann@example.com")
	s.ask(t, b, v, "bob@example.com", "")
	if got := s.decide(t, protocol.DecisionAllow, "").Visit; got.Email != "ann@example.com" || got.Verified == "" {
		t.Errorf("got a question about %+v, want one about ann@example.com, whose address is proven", got)
	}
	wantPage(t, b, v, http.StatusOK, "hello")
}

func TestAQuestionNamesTheProviderThatProvedTheAddress(t *testing.T) {
	s := newSite(t)
	m := newIssuer(t, s)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.browser(t)
	m.QueueUser(account{"email": "ann@company.com"})
	if status, text := read(t)(b.Get(signInWith(t, v.URL, "work", "/"))); status != http.StatusForbidden {
		t.Fatalf("after the sign-in: got %d %q, want 403", status, text)
	}
	s.ask(t, b, v, "", "")
	if got := s.decide(t, protocol.DecisionAllow, "").Visit; got.Email != "ann@company.com" || got.Verified != "Company" {
		t.Errorf("got a question about %+v, want one about ann@company.com, verified by Company", got)
	}
	wantPage(t, b, v, http.StatusOK, "hello")
}

func TestADeletedServiceHasNoQuestions(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	s.ask(t, s.browser(t), v, "ann@example.com", "")
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
		t.Fatal(err)
	}
	if list := s.pending(t); len(list) > 0 {
		t.Errorf("got the questions %+v, want none", list)
	}
}

// TestACrashBeforeTheQuestionKeepsNobodyOut stores who waits without the question about them.
func TestACrashBeforeTheQuestionKeepsNobodyOut(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", nil)
		s.ask(t, s.browser(t), v, "bob@example.com", "")
		now := time.Now()
		lost := store.Visit{
			Hash: hash("secret"), Service: v.ID, ExpiresAt: now.Add(requestLife).UnixMilli(), State: store.VisitWaiting, Email: "ann@example.com", IsClaimed: true, Question: "lost",
		}
		if err := s.db.Services.PutVisit(t.Context(), lost, now.UnixMilli()); err != nil {
			t.Fatal(err)
		}
		s.reload(t)
		if status, text := s.ask(t, s.browser(t), v, "ann@example.com", ""); status != http.StatusUnauthorized || !strings.Contains(text, "has been asked") {
			t.Errorf("got %d %q, want the owner asked", status, text)
		}
		if status, _ := s.ask(t, s.browser(t), v, "bob@example.com", ""); status != http.StatusTooManyRequests || len(s.pending(t)) != 2 {
			t.Errorf("the other question: got %d and %d questions, want it still open", status, len(s.pending(t)))
		}
	})
}
