package service

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/signin"
)

// newMailServer starts a mail server (RFC 5321) without encryption, makes it that of the settings,
// and returns what it received: the envelope, and then the mail.
func newMailServer(t *testing.T, s *site) <-chan string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	mails := make(chan string, 20)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go receiveMail(c, mails)
		}
	}()
	s.settings.Mail = config.Mail{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Security: "none", From: "Apps <apps@example.com>"}
	return mails
}

func receiveMail(c net.Conn, mails chan<- string) {
	defer c.Close()
	lines := bufio.NewReader(c)
	envelope := ""
	fmt.Fprint(c, "220 test\r\n")
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(strings.Fields(line + " .")[0]); verb {
		case "EHLO":
			fmt.Fprint(c, "250-test\r\n250 AUTH PLAIN LOGIN\r\n")
		case "MAIL", "RCPT":
			envelope += line
			fmt.Fprint(c, "250 ok\r\n")
		case "DATA":
			fmt.Fprint(c, "354 go on\r\n")
			text := ""
			for line != ".\r\n" {
				if line, err = lines.ReadString('\n'); err != nil {
					return
				}
				text += line
			}
			decoded, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(text)))
			mails <- envelope + string(decoded)
			fmt.Fprint(c, "250 ok\r\n")
		case "AUTH":
			mails <- line
			fmt.Fprint(c, "235 ok\r\n")
		case "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		default:
			fmt.Fprint(c, "250 ok\r\n")
		}
	}
}

// nextMail returns the next mail.
func nextMail(t *testing.T, mails <-chan string) string {
	t.Helper()
	select {
	case m := <-mails:
		return m
	case <-time.After(20 * time.Second):
		t.Fatal("got no mail, want one")
		return ""
	}
}

// askForMail fills in the form of the sign-in page.
func askForMail(t *testing.T, b *http.Client, site, email string) (int, string) {
	t.Helper()
	return read(t)(b.PostForm(site+"/.fairlead/mail", url.Values{"email": {email}}))
}

func TestAListedAddressGetsALinkByMail(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Title, d.Visitors = "Büro", []string{"ann@company.com"} })
	if _, text := page200(t, s.browser(t), v.URL); strings.Contains(text, "Mail me a link") {
		t.Errorf("the page is %s; want no form, because there is no mail server", text)
	}
	if status, text := askForMail(t, s.browser(t), v.URL, "ann@company.com"); status != http.StatusNotFound {
		t.Errorf("without a mail server: got %d %s, want 404", status, text)
	}
	mails := newMailServer(t, s)
	if _, text := page200(t, s.browser(t), v.URL); !strings.Contains(text, "Mail me a link") || strings.Contains(text, "<script") || strings.Contains(text, ">Back<") {
		t.Errorf("the page is %s, want the form without scripts", text)
	}
	const said = "Look into your mail. If this address is among the visitors, a link is on its way. It works once, within a day."
	for _, email := range []string{"eve@evil.example", "*@company.com", "no address", "ann@company.com\r\nBcc: eve@evil.example", " Ann@Company.com "} {
		if status, text := askForMail(t, s.browser(t), v.URL, email); status != http.StatusOK || text != said {
			t.Errorf("%q: got %d %s, want the same answer for all", email, status, text)
		}
	}
	m := nextMail(t, mails)
	if strings.Contains(m, "&to=") {
		t.Errorf("got %s, want a link without a path", m)
	}
	if !strings.HasPrefix(m, "MAIL FROM:<apps@example.com>") || strings.Count(m, "RCPT TO:") != 1 || !strings.Contains(m, "RCPT TO:<Ann@Company.com>") || !strings.Contains(m, "Subject: =?UTF-8?q?Sign_in_to_B=C3=BCro?=") && !strings.Contains(m, "Sign_in_to_B") {
		t.Errorf("got %s, want a mail to Ann alone", m)
	}
	_, link, _ := strings.Cut(m, "Büro:")
	link = strings.Fields(link)[0]
	b := s.browser(t)
	if status, text := use(t, b, link); text != "hello" {
		t.Errorf("the link %s leads to %d %s, want the app", link, status, text)
	}
	if status, _ := use(t, s.browser(t), link); status != http.StatusForbidden {
		t.Errorf("the link for the second time: got %d, want 403", status)
	}
	s.visits.signIn.(*signin.SignIn).Close() // waits for the others
	if len(mails) > 0 {
		t.Errorf("got another mail %s, want none to who is not on the list", <-mails)
	}
}

func TestNobodyMailsALinkOfTheOwner(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	newMailServer(t, s)
	for _, email := range []string{"", " ", "\u00a0"} {
		if status, text := askForMail(t, s.browser(t), v.URL, email); status != http.StatusBadRequest {
			t.Errorf("%q: got %d %s, want 400", email, status, text)
		}
	}
}

func TestMailIsLimited(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	newMailServer(t, s)
	for i := range 6 {
		want := http.StatusOK
		if i == 5 {
			want = http.StatusTooManyRequests
		}
		if status, text := askForMail(t, s.browser(t), v.URL, fmt.Sprintf("ann%d@company.com", i)); status != want {
			t.Errorf("mail %d of a source: got %d %s, want %d", i+1, status, text, want)
		}
	}
}

// TestNoPasswordIsSentInTheClear asks for encryption from a server that has none, and then for a
// sign-in without encryption.
func TestNoPasswordIsSentInTheClear(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"ann@company.com"} })
	mails := newMailServer(t, s)
	plain := s.settings.Mail
	for _, change := range []func(*config.Mail){
		func(m *config.Mail) { m.Security = "starttls" },
		func(m *config.Mail) { m.User = "apps" },
		func(*config.Mail) {},
	} {
		s.settings.Mail = plain
		change(&s.settings.Mail)
		if status, text := askForMail(t, s.browser(t), v.URL, "ann@company.com"); status != http.StatusOK {
			t.Fatalf("got %d %s, want the answer", status, text)
		}
	}
	if m := nextMail(t, mails); !strings.HasPrefix(m, "MAIL FROM") { // the third one, whose server needs no sign-in
		t.Errorf("the server got %q, want only the mail without a password", m)
	}
	s.visits.signIn.(*signin.SignIn).Close() // waits for the others
	if len(mails) > 0 {
		t.Errorf("the server got another mail %q, want none", <-mails)
	}
}
