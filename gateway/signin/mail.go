package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Paths of mailed links on the host of a service: of the form, and of the page after it.
const (
	mailPath   = "/.fairlead/mail"
	MailedPath = mailPath + "ed"
)

// Limits of mail: for a source, and for an address at a service.
const (
	mailBurst   = 5
	mailPace    = time.Minute
	mailTimeout = time.Minute
	// maxMails is the number of mails that are sent at the same time.
	maxMails = 8
)

// mailLink mails a link to an address that asks for one, in the background. The answer comes before
// anything depends on the address, so that it does not tell who is on the list.
func (s *SignIn) mailLink(w http.ResponseWriter, r *http.Request, v protocol.Service) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	email, to, c := strings.TrimSpace(r.PostFormValue("email")), LocalPath(r.PostFormValue("to")), s.o.Config().Mail
	switch {
	case r.Method != http.MethodPost || !c.Works():
		return &Refusal{Status: http.StatusNotFound, Title: "No mail is sent", Text: "Choose another way to sign in.", Back: to}
	case email == "": // which would ask for a link of the owner
		return &Refusal{Status: http.StatusBadRequest, Title: "No email address", Text: "Enter the address to which the link is mailed.", Back: to}
	case !s.mails.Allow(r):
		return TooMany
	}
	http.Redirect(w, r, MailedPath, http.StatusSeeOther)
	if !s.mails.allowAt(string(v.ID)+" "+strings.ToLower(email), time.Now()) {
		return nil
	}
	s.workers.Start(func() {
		select {
		case s.sending <- struct{}{}:
			defer func() { <-s.sending }()
		default:
			slog.Warn("Too many mails with links are sent already", "service", v.ID)
			return
		}
		ctx, cancel := context.WithTimeout(s.workers.Context(), mailTimeout)
		defer cancel()
		if err := s.sendLink(ctx, c, v, email, to); err != nil {
			slog.Warn("A link could not be mailed", "service", v.ID, "err", err)
		}
	})
	return nil
}

// sendLink mails a link to an address, if it is on the list of the service. The link leads to a path
// of the app.
func (s *SignIn) sendLink(ctx context.Context, c config.Mail, v protocol.Service, email, to string) error {
	link, err := s.o.Link(ctx, v, email)
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		slog.Info("Somebody who is not on the list asked for a link", "service", v.ID)
		return nil
	}
	if err != nil {
		return err
	}
	if to != "/" {
		link += "&" + url.Values{"to": {to}}.Encode()
	}
	m := mail.NewMsg()
	if err := errors.Join(m.From(c.From), m.To(email)); err != nil {
		return err
	}
	m.Subject("Sign in to " + v.Title)
	m.SetBodyString(mail.TypeTextPlain, fmt.Sprintf("Open this link to sign in to %s:\n\n%s\n\nIt works once, within a day. If you did not ask for it, ignore this message.\n", v.Title, link))
	m.SetDate()
	m.SetMessageID()
	password, _ := s.o.Secret("services.mail.password")
	client, err := mail.NewClient(c.Host, optionsOf(c, password)...)
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, m)
}

// optionsOf returns how to talk to a mail server.
func optionsOf(c config.Mail, password string) []mail.Option {
	list := []mail.Option{mail.WithTimeout(20 * time.Second), mail.WithPort(c.Port)}
	switch c.Security {
	case "tls":
		list = append(list, mail.WithSSL())
	case "none":
		list = append(list, mail.WithTLSPolicy(mail.NoTLS))
	default:
		list = append(list, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if c.User != "" { // never in the clear over a connection that is not encrypted
		list = append(list, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(c.User), mail.WithPassword(password))
	}
	return list
}
