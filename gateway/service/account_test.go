package service

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestVisitorsDeleteTheirOwnPasskeysAndNoOthers(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	anns, bobs := s.withPasskey(t, v, "ann@company.com"), s.withPasskey(t, v, "bob@company.com")
	ann := s.enter(t, v, "ann@company.com")
	at := v.URL + accountPath
	list, err := s.db.Services.Passkeys(t.Context(), v.ID)
	if err != nil || len(list) != 2 {
		t.Fatalf("got %v, %v; want two passkeys", list, err)
	}
	ids := make(map[string]string) // by address
	for _, k := range list {
		ids[k.Email] = k.ID
	}
	if _, text := page200(t, s.browser(t), at); !strings.Contains(text, "Sign in") || strings.Contains(text, "company.com") {
		t.Errorf("without a sign-in: got %s, want the sign-in", text)
	}
	if _, text := page200(t, ann, at); !strings.Contains(text, "signed in as ann@company.com") || !strings.Contains(text, ids["ann@company.com"]) || strings.Contains(text, ids["bob@company.com"]) {
		t.Errorf("got %s, want Ann and her passkey alone", text)
	}
	remove := func(b *http.Client, whose, origin string) int {
		t.Helper()
		r, err := http.NewRequest("POST", at, strings.NewReader(url.Values{"passkey": {ids[whose]}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		status, _ := read(t)(b.Do(r))
		return status
	}
	if got := remove(s.browser(t), "ann@company.com", v.URL); got != http.StatusUnauthorized {
		t.Errorf("without a sign-in: got %d, want 401", got)
	}
	if got := remove(ann, "ann@company.com", "https://evil.example"); got != http.StatusForbidden {
		t.Errorf("a page of another site: got %d, want 403", got)
	}
	remove(ann, "bob@company.com", v.URL)
	for whose, a := range map[string]*authenticator{"Ann": anns, "Bob": bobs} {
		a.counter++
		if status, text := a.signIn(t, s, v); text != "hello" {
			t.Errorf("%s's passkey gets %d %s, want the app: nothing of it was deleted", whose, status, text)
		}
	}
	if got := remove(ann, "ann@company.com", v.URL); got != http.StatusOK {
		t.Errorf("got %d, want the page again", got)
	}
	if _, text := page200(t, ann, at); !strings.Contains(text, "You have no passkey") {
		t.Errorf("got %s, want no passkey", text)
	}
	anns.counter++
	if status, _ := anns.signIn(t, s, v); status != http.StatusForbidden {
		t.Errorf("the deleted passkey gets %d, want 403", status)
	}
	open := s.publish(t, app(t, hello).URL, func(d *Definition) { d.SignIn = false })
	if status, _ := read(t)(s.browser(t).Get(open.URL + accountPath)); status != http.StatusNotFound {
		t.Errorf("at an app without a sign-in: got %d, want 404", status)
	}
}
