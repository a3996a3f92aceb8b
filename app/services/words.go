package services

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// stateText says whether an app can be visited now. warn is for what the person should not
// overlook.
func stateText(v feed.View, s protocol.Service) (text string, warn bool) {
	n, ok := v.Machines.Find(s.NodeID)
	switch {
	case !s.Enabled:
		return "off", false
	case !ok || !n.Online:
		return "machine offline", true
	case !s.SignIn:
		return "on for everyone", true
	}
	return "on", false
}

// audience says who gets in.
func audience(s protocol.Service) string {
	switch n := len(s.Visitors); {
	case !s.SignIn:
		return "everyone, without a sign-in"
	case n > 0:
		return "you and " + format.Plural(n, "visitor")
	}
	return "you alone"
}

// summary is the second line of an app in the list.
func summary(v feed.View, s protocol.Service, use protocol.ServiceUse, now time.Time) string {
	return wording.Join(" · ", v.Machines.Name(s.NodeID), audience(s), useText(use, now))
}

// useText says how much an app is used.
func useText(u protocol.ServiceUse, now time.Time) string {
	if u.LastUsedAt == 0 {
		return "never used"
	}
	visitors, requests := "", ""
	if u.Visitors > 0 {
		visitors = format.Plural(u.Visitors, "visitor now", "visitors now")
	}
	if u.RequestsToday > 0 {
		requests = format.Plural(int(u.RequestsToday), "request today", "requests today")
	}
	return wording.Join(" · ", visitors, requests, "last used "+format.When(u.LastUsedAt, now))
}

// factsOf lists what is known about an app.
func factsOf(v feed.View, s protocol.Service, use protocol.ServiceUse, now time.Time) []wording.Fact {
	state, _ := stateText(v, s)
	var list wording.Facts
	list.Add("Status", strings.ToUpper(state[:1])+state[1:])
	list.Add("Machine", v.Machines.Name(s.NodeID))
	if t := s.Terminal; t != nil {
		list.Add("Terminal", revealed(cmp.Or(t.Command, "The user’s shell")))
		list.Add("User", revealed(t.Username))
		list.Add("Folder", revealed(t.Workdir))
	} else {
		list.Add("App", s.Target)
	}
	list.Add("Published", format.Capital(format.When(s.CreatedAt, now)))
	list.Add("Use", format.Capital(useText(use, now)))
	return list
}

// addressesOf returns the addresses of an app. An older gateway has only the best one.
func addressesOf(s protocol.Service) []protocol.ServiceAddress {
	if len(s.Addresses) == 0 {
		return []protocol.ServiceAddress{{URL: s.URL, From: protocol.FromBrowser}}
	}
	return s.Addresses
}

// fromText says from where an address works.
func fromText(v feed.View, from string) string {
	here := "this computer"
	if v.Status.Remote {
		here = "the gateway’s computer"
	}
	switch from {
	case protocol.FromAnywhere:
		return "From wherever its domain is found"
	case protocol.FromNetwork:
		return "From other computers that reach " + here
	case protocol.FromBrowser:
		return "From browsers on " + here
	case protocol.FromComputer:
		return "From all programs on " + here
	}
	return ""
}

// title returns the title of an app with visible control characters.
func title(s protocol.Service) string { return revealed(s.Title) }

func revealed(s string) string {
	text, _ := wording.Reveal(s)
	return text
}

// isPattern reports whether a visitor stands for several people, who get no link.
func isPattern(visitor string) bool { return strings.Contains(visitor, "*") }

// visitorName names who is signed in to an app, or visits it.
func visitorName(v protocol.ServiceVisitor) string {
	email, _ := wording.Reveal(v.Email)
	switch {
	case v.IsOwner:
		return "You"
	case v.ID == "":
		return "Visitor without a sign-in"
	case v.IsClaimed:
		return email + " (address not checked)"
	}
	return email
}

// visitText says what a visitor does now, and until when they are signed in.
func visitText(v protocol.ServiceVisitor, now time.Time) string {
	visit, until := "Not visiting now", ""
	if v.Since > 0 {
		visit = fmt.Sprintf("Visiting since %s from %s · %s", format.When(v.Since, now), v.From, format.Plural(int(v.Requests), "request"))
	}
	if v.ExpiresAt > 0 {
		until = "signed in until " + format.When(v.ExpiresAt, now)
	}
	return wording.Join(" · ", visit, until)
}

// linkText says what a copied link does.
func linkText(email string) string {
	who := "you"
	if email != "" {
		who = email
	}
	return fmt.Sprintf("The link was copied. It lets %s in once, within a day. Whoever has it gets in, so give it to nobody else. It is not shown again.", who)
}

// linkAt is a link to an app at another of its addresses: browsers sign in at each by itself.
func linkAt(link string, s protocol.Service, address string) string {
	return strings.TrimSuffix(address, "/") + strings.TrimPrefix(link, strings.TrimSuffix(s.URL, "/"))
}

// emailsIn splits a text into addresses and patterns.
func emailsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\n\t", r) })
}

// Who gets in, as the form offers it.
const (
	onlyYou     = "Only you"
	andVisitors = "You and visitors"
	everybody   = "Everyone, without a sign-in"
)

// audiences are the choices of who gets in: nobody types into a terminal without a sign-in.
func audiences(isTerminal bool) []string {
	if isTerminal {
		return []string{onlyYou, andVisitors}
	}
	return []string{onlyYou, andVisitors, everybody}
}

// audienceWarning says what the choice of who gets in means; empty if it needs no warning.
func audienceWarning(isTerminal bool, who string) string {
	switch {
	case isTerminal && who == andVisitors:
		return "Visitors can type, and so do everything that the user of the terminal may do on the machine."
	case who == everybody:
		return everyoneWarning
	}
	return ""
}

// everyoneWarning says what it means to publish for everyone.
const everyoneWarning = "Everyone who reaches the address can use the app, without a sign-in. Do this only with apps that ask for a password themselves."

// machineChoices lists the machines that can have a published app, those that are online first.
func machineChoices(v feed.View) []protocol.NodeInfo {
	return append(lists.Without(v.Machines, func(n protocol.NodeInfo) bool { return !n.Online }),
		lists.Without(v.Machines, func(n protocol.NodeInfo) bool { return n.Online })...)
}
