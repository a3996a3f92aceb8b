package service

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestAVisitorComesBackToThePathTheyWanted signs in by a mailed link, and by a request for access,
// and tries paths that lead to another site.
func TestAVisitorComesBackToThePathTheyWanted(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.RequestURI()) }).URL, func(d *Definition) { d.Visitors = []string{"ann@company.com"} })
	mails := newMailServer(t, s)
	const wanted = "/wiki/a%20b?c=1&d=2"
	if _, text := page200(t, s.browser(t), v.URL+wanted); strings.Count(text, `name="to" value="/wiki/a%20b?c=1&amp;d=2"`) != 2 {
		t.Errorf("the page is %s, want the path in the forms for a mail and for access", text)
	}
	hostile := []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "/\t/evil.example", "javascript:alert(1)", "/%zz", "/" + strings.Repeat("a", 3000)}
	for i, to := range append([]string{wanted}, hostile...) {
		want := "/"
		if i == 0 {
			want = wanted
		}
		link, err := s.visits.Link(t.Context(), v, "ann@company.com")
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser(t)
		if _, text := page200(t, b, link+"&"+url.Values{"to": {to}}.Encode()); !strings.Contains(text, `name="to" value="`+html.EscapeString(want)+`"`) {
			t.Errorf("%.40q: the page of the link is %s, want it to lead to %s", to, text, want)
		}
		u, _ := url.Parse(link)
		if _, text := read(t)(b.PostForm(link, url.Values{"link": {u.Query().Get("link")}, "to": {to}})); text != want {
			t.Errorf("%.40q: the link leads to %s, want %s", to, text, want)
		}
		if i > 2 {
			continue // more requests from one source are refused
		}
		asker := s.browser(t)
		asker.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := asker.PostForm(v.URL+askPath, url.Values{"email": {fmt.Sprintf("bob%d@example.com", i)}, "to": {to}})
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Location"); got != want || res.StatusCode != http.StatusSeeOther {
			t.Errorf("%.40q: after a request for access: got %d to %s, want %s", to, res.StatusCode, got, want)
		}
		if i == 0 {
			s.decide(t, protocol.DecisionAllow, protocol.VisitHour)
			asker.CheckRedirect = nil
			if _, text := read(t)(asker.Get(v.URL + res.Header.Get("Location"))); text != wanted {
				t.Errorf("after the answer: got %s, want %s", text, wanted)
			}
		}
	}
	read(t)(s.browser(t).PostForm(v.URL+"/.fairlead/mail", url.Values{"email": {"ann@company.com"}, "to": {wanted}}))
	if m := nextMail(t, mails); !strings.Contains(m, "&to=%2Fwiki%2Fa%2520b%3Fc%3D1%26d%3D2") {
		t.Errorf("got the mail %s, want the path in its link", m)
	}
}
