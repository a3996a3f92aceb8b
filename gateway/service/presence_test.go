package service

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// visitLines returns what the audit log says about visits, the oldest first.
func (s *site) visitLines(t *testing.T) (lines []string) {
	t.Helper()
	entries, _, err := s.db.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditService, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	for _, e := range entries {
		if strings.Contains(e.What, "visit to") || strings.Contains(e.What, "to visit The") && strings.HasPrefix(e.What, "began") || strings.HasPrefix(e.What, "signed") {
			lines = append(lines, e.What+" by "+e.By)
		}
	}
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the audit log: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAVisitEndsAfterAQuarterOfAnHourWithoutARequest(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"ann@example.com"} })
		b := s.enter(t, v, "ann@example.com")
		for range 3 {
			time.Sleep(14 * time.Minute)
			if status, text := read(t)(b.Post(v.URL, "text/plain", strings.NewReader("1234567890"))); text != "hello" {
				t.Fatalf("got %d %q, want the app", status, text)
			}
		}
		began := "began to visit The app, from pipe by visitor ann@example.com"
		wantLines(t, s.visitLines(t), began)
		time.Sleep(quietAfter + publishEvery)
		ended := "ended the visit to The app, from pipe, after 28 min: 3 requests, 15 B to the visitor, 30 B from the visitor by visitor ann@example.com"
		wantLines(t, s.visitLines(t), began, ended)
		wantPage(t, b, v, http.StatusOK, "hello")
		end := stream(t, b, v)
		time.Sleep(2 * quietAfter) // an open stream is a visit
		synctest.Wait()
		wantLines(t, s.visitLines(t), began, ended, began)
		s.stop()
		wantEnd(t, end, time.Second)
		wantLines(t, s.visitLines(t), began, ended, began,
			"ended the visit to The app, from pipe, after 30 min: 2 requests, 5 B to the visitor, 0 B from the visitor by visitor ann@example.com")
		s.stop = func() {}
	})
}

func TestAVisitEndsWithItsService(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.SignIn = false })
		end := stream(t, s.browser(t), v)
		if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, end, time.Second)
		synctest.Wait()
		wantLines(t, s.visitLines(t), "began to visit The app, from pipe by everyone",
			"ended the visit to The app, from pipe, after 0 ms: 1 request, 0 B to the visitor, 0 B from the visitor by everyone")
	})
}

func TestTheUseOfAServiceSurvivesARestart(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.SignIn = false })
		if got := s.site.Use(); len(got) > 0 {
			t.Errorf("before the first visit: got %+v, want nothing", got)
		}
		sub := s.bus.Subscribe()
		defer sub.Close()
		time.Sleep(23 * time.Hour)
		at := time.Now().UnixMilli()
		b := s.browser(t)
		for range 5 {
			wantPage(t, b, v, http.StatusOK, "hello")
		}
		if got, want := s.site.Use()[v.ID], (protocol.ServiceUse{Visitors: 1, RequestsToday: 5, LastUsedAt: at}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		time.Sleep(publishEvery)
		if c, err := sub.Next(t.Context()); err != nil || c.Kind != protocol.ChangeServices {
			t.Errorf("got the change %q, %v; want %q", c.Kind, err, protocol.ChangeServices)
		}
		s.reload(t)
		if got, want := s.site.Use()[v.ID], (protocol.ServiceUse{RequestsToday: 5, LastUsedAt: at}); got != want {
			t.Errorf("after a restart: got %+v, want %+v", got, want)
		}
		time.Sleep(time.Hour) // the next day
		if got, want := s.site.Use()[v.ID], (protocol.ServiceUse{LastUsedAt: at}); got != want {
			t.Errorf("on the next day: got %+v, want %+v", got, want)
		}
		wantPage(t, b, v, http.StatusOK, "hello")
		if got := s.site.Use()[v.ID]; got.RequestsToday != 1 {
			t.Errorf("on the next day: got %d requests, want 1", got.RequestsToday)
		}
	})
}

// TestWhoIsTakenOffTheListIsCutInTheMiddleOfAStream has three visitors, of whom one stays.
func TestWhoIsTakenOffTheListIsCutInTheMiddleOfAStream(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"ann@example.com", "bob@example.com"} })
		guest := s.browser(t)
		s.ask(t, guest, v, "carol@example.com", "")
		s.decide(t, protocol.DecisionAllow, protocol.VisitDay)
		ann, bob, carol := stream(t, s.enter(t, v, "ann@example.com"), v), stream(t, s.enter(t, v, "bob@example.com"), v), stream(t, guest, v)
		for _, c := range []struct {
			action string
			email  string
			ends   <-chan error
		}{{ShareAdd, "dave@example.com", nil}, {ShareRemove, "ann@example.com", ann}, {ShareRemove, "carol@example.com", carol}, {ShareRevoke, "", bob}} {
			if _, err := s.Share(t.Context(), v.ID, c.action, slices.DeleteFunc([]string{c.email}, func(e string) bool { return e == "" }), "owner"); err != nil {
				t.Fatal(err)
			}
			if c.ends != nil {
				wantEnd(t, c.ends, time.Second)
			}
			synctest.Wait()
			if c.action != ShareRevoke && len(bob) > 0 {
				t.Errorf("%s %s cut another visitor", c.action, c.email)
			}
		}
		wantPage(t, guest, v, http.StatusUnauthorized, "Sign in")
	})
}

func TestASignedOutVisitorIsOutAtOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"*@example.com"} })
		ann, bob := s.enter(t, v, "ann@example.com"), s.enter(t, v, "bob@example.com")
		cut, stays := stream(t, ann, v), stream(t, bob, v)
		list, err := s.site.Visitors(t.Context(), protocol.ServiceParams{ID: v.ID})
		if err != nil || len(list.Visitors) != 2 {
			t.Fatalf("got %+v, %v; want both visitors", list, err)
		}
		i := slices.IndexFunc(list.Visitors, func(w protocol.ServiceVisitor) bool { return w.Email == "ann@example.com" })
		w := list.Visitors[i]
		if w.From != "pipe" || w.Streams != 1 || w.Requests != 1 || w.Since != time.Now().UnixMilli() || w.ExpiresAt != time.Now().Add(visitLife).UnixMilli() {
			t.Errorf("got %+v, want her visit and when the sign-in expires", w)
		}
		out := protocol.ServiceSignOutParams{ID: v.ID, Visitor: w.ID}
		if err := s.site.SignOut(t.Context(), "owner", out); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, cut, time.Second)
		wantPage(t, ann, v, http.StatusUnauthorized, "Sign in")
		wantPage(t, bob, v, http.StatusOK, "hello")
		if len(stays) > 0 {
			t.Error("another visitor was cut")
		}
		if err := s.site.SignOut(t.Context(), "owner", out); protocol.AsError(err).Code != 404 {
			t.Errorf("again: got %v, want that nobody is signed in", err)
		}
		if got := s.visitLines(t); !slices.Contains(got, "signed ann@example.com out of The app by owner") {
			t.Errorf("the audit log: got %q, want the sign-out", got)
		}
	})
}

func TestSigningOutEndsTheOpenPagesOfTheBrowser(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", nil)
		b := s.enter(t, v, "")
		end := stream(t, b, v)
		if status, text := read(t)(b.PostForm(v.URL+leavePath, nil)); status != http.StatusUnauthorized {
			t.Errorf("after the sign-out: got %d %q, want 401", status, text)
		}
		wantEnd(t, end, time.Second)
	})
}

// fullDelete deletes no visits.
type fullDelete struct{ *store.Services }

func (fullDelete) DeleteVisits(context.Context, protocol.ServiceID, func(store.Visit) bool, ...protocol.AuditEntry) ([]store.Visit, error) {
	return nil, protocol.ErrStorage
}

func TestASignInStaysWhoseEndIsNotStored(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.enter(t, v, "")
	list, err := s.site.Visitors(t.Context(), protocol.ServiceParams{ID: v.ID})
	if err != nil || len(list.Visitors) != 1 {
		t.Fatalf("got %+v, %v; want the owner", list, err)
	}
	s.site.requests.store = fullDelete{s.db.Services}
	if err := s.site.SignOut(t.Context(), "owner", protocol.ServiceSignOutParams{ID: v.ID, Visitor: list.Visitors[0].ID}); protocol.AsError(err).Code != protocol.ErrStorage.Code {
		t.Errorf("got %v, want %v", err, protocol.ErrStorage)
	}
	wantPage(t, b, v, http.StatusOK, "hello")
}

// TestARequestThatWasCheckedBeforeACutIsCheckedAgain is the moment between the two.
func TestARequestThatWasCheckedBeforeACutIsCheckedAgain(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", nil)
	visit := store.Visit{Hash: "h", Service: v.ID, Email: "ann@example.com", ExpiresAt: time.Now().Add(time.Hour).UnixMilli()}
	cuts := s.site.presence.cutCount()
	if _, err := s.Share(t.Context(), v.ID, ShareRevoke, nil, "owner"); err != nil {
		t.Fatal(err)
	}
	if w, ok := s.site.presence.enter(cuts, v, t.Context(), visit, "192.0.2.1"); ok {
		t.Errorf("got %+v, want that the right is checked again", w)
	}
}

func TestManyVisitorsWithoutASignInAreOneVisit(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "3000", func(d *Definition) { d.SignIn = false })
	for i := range 1000 {
		from := "10.0." + string(rune('0'+i/100)) + "." + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
		if _, ok := s.site.presence.enter(s.site.presence.cutCount(), v, t.Context(), store.Visit{}, from); !ok {
			t.Fatal("got no visit, want one")
		}
	}
	if got := s.site.Use()[v.ID]; got.Visitors != maxUnknown+1 || got.RequestsToday != 1000 {
		t.Errorf("got %+v, want %d visits and all requests", got, maxUnknown+1)
	}
}

func TestTheBytesOfAWebSocketAreCounted(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		_, data, _ := c.ReadMessage()
		c.WriteMessage(websocket.BinaryMessage, append(data, data...))
		c.ReadMessage()
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	b := s.browser(t)
	c, _, err := (&websocket.Dialer{NetDialContext: b.Transport.(*http.Transport).DialContext}).DialContext(t.Context(), "ws"+strings.TrimPrefix(v.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.WriteMessage(websocket.BinaryMessage, make([]byte, 5000))
	if _, data, err := c.ReadMessage(); err != nil || len(data) != 10000 {
		t.Fatalf("got %d bytes, %v; want 10000", len(data), err)
	}
	list, err := s.site.Visitors(t.Context(), protocol.ServiceParams{ID: v.ID})
	if w := list.Visitors[0]; err != nil || w.Received < 5000 || w.Received > 5100 || w.Sent < 10000 || w.Sent > 10100 {
		t.Errorf("got %+v, %v; want 5000 bytes from the visitor and 10000 to the visitor", w, err)
	}
}

// TestVisitsOfAGatewayThatWasKilledEndInTheAuditLog opens the site again without an end of the
// first.
func TestVisitsOfAGatewayThatWasKilledEndInTheAuditLog(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"ann@example.com"} })
		b := s.enter(t, v, "ann@example.com")
		wantPage(t, b, v, http.StatusOK, "hello")
		end := stream(t, b, v)
		time.Sleep(5*time.Minute + publishEvery)
		kill := s.stop
		s.stop = func() {}
		s.reload(t)
		began := "began to visit The app, from pipe by visitor ann@example.com"
		lost := "ended the visit to The app, from pipe, after 5 min: 2 requests, 5 B to the visitor, 0 B from the visitor, " +
			"as far as known: the gateway was stopped by force by visitor ann@example.com"
		wantLines(t, s.visitLines(t), began, lost)
		s.reload(t)
		wantLines(t, s.visitLines(t), began, lost)
		kill()
		<-end
	})
}

// countedVisits counts how often visitors are read.
type countedVisits struct {
	VisitStore
	reads atomic.Int32
}

func (c *countedVisits) Visit(ctx context.Context, hash string, now int64) (store.Visit, bool, error) {
	c.reads.Add(1)
	return c.VisitStore.Visit(ctx, hash, now)
}

func TestAPresentVisitorIsNotReadFromTheDatabaseAgain(t *testing.T) {
	inMemory(t, func(t *testing.T, s *site) {
		counted := &countedVisits{VisitStore: s.visits.store}
		s.visits.store = counted
		v := s.publish(t, "3000", func(d *Definition) { d.Visitors = []string{"ann@example.com"} })
		b := s.enter(t, v, "ann@example.com")
		for range 5 {
			wantPage(t, b, v, http.StatusOK, "hello")
		}
		if got := counted.reads.Load(); got != 1 {
			t.Errorf("the visitor was read %d times for 5 requests, want once", got)
		}
		other := s.publish(t, "3001", nil)
		r := newRequest(t, other.URL)
		u, _ := url.Parse(v.URL)
		for _, c := range b.Jar.Cookies(u) {
			r.AddCookie(&http.Cookie{Name: plainCookie + string(other.ID), Value: c.Value})
		}
		if status, _ := read(t)(s.browser(t).Do(r)); status != http.StatusUnauthorized {
			t.Errorf("the sign-in at another app: got %d, want 401", status)
		}
		if _, err := s.Share(t.Context(), v.ID, ShareRemove, []string{"ann@example.com"}, "owner"); err != nil {
			t.Fatal(err)
		}
		wantPage(t, b, v, http.StatusForbidden, "ann@example.com")
	})
}
