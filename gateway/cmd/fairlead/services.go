package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func servicesCommand(o *options) *cobra.Command {
	list := command("list", "List the published services", cobra.NoArgs,
		onMethodWithNames(o, protocol.ServicesList, func([]string) (protocol.Empty, error) { return protocol.Empty{}, nil }, printServices))
	link := command("link SERVICE [EMAIL]", "Make a link that lets you, or a visitor, in once", cobra.RangeArgs(1, 2),
		onMethod(o, protocol.ServiceLink, func(args []string) (protocol.ServiceLinkParams, error) {
			p := protocol.ServiceLinkParams{ID: protocol.ServiceID(args[0])}
			if len(args) > 1 {
				p.Email = args[1]
			}
			return p, nil
		}, func(out io.Writer, r protocol.ServiceLinkResult) error {
			_, err := fmt.Fprintln(out, r.URL)
			return err
		}))
	link.Long = `Makes a link that works once, within a day. Whoever has it gets in: give it only to its visitor.
The address must be among the visitors of the service; without one the link is for you.`
	of := func(args []string) (protocol.ServiceParams, error) {
		return protocol.ServiceParams{ID: protocol.ServiceID(args[0])}, nil
	}
	visits := command("visits SERVICE", "List who is signed in to a service, and who visits it now", cobra.ExactArgs(1), onMethod(o, protocol.ServiceVisits, of, printVisitors))
	signOut := command("signout SERVICE VISITOR", "End a visitor's sign-in and open pages", cobra.ExactArgs(2),
		onMethod(o, protocol.ServiceSignOut, func(args []string) (protocol.ServiceSignOutParams, error) {
			return protocol.ServiceSignOutParams{ID: protocol.ServiceID(args[0]), Visitor: args[1]}, nil
		}, func(out io.Writer, _ protocol.OK) error {
			_, err := fmt.Fprintln(out, "Signed out.")
			return err
		}))
	signOut.Long = "Ends one sign-in, which fairlead services visits lists. Whoever is still among the visitors can sign in again."
	cmd := group("services", "See the published services, and let visitors in", list, link, visits, signOut)
	cmd.Long = `A service gives an app of a machine an address that browsers can open. The tools service_publish,
service_update, service_share and service_delete change services, and you are asked about each change:
fairlead call service_publish --help`
	return cmd
}

func printServices(out io.Writer, r protocol.ServicesListResult, names nameBook) error {
	var t table
	for _, v := range r.Services {
		state := "you alone"
		switch {
		case !v.Enabled:
			state = "off"
		case !v.SignIn:
			state = "EVERYONE"
		case len(v.Visitors) > 0:
			state = "you and " + format.Plural(len(v.Visitors), "visitor")
		}
		t.row(string(v.ID), flat(v.Title), names.machines.of(v.NodeID), flat(v.Content()), v.URL, state, useWords(r.Use[v.ID]))
		for _, a := range v.Addresses {
			works := addressWords[a.From]
			if a.Problem != "" {
				works = flat("does not work: " + a.Problem)
			}
			t.row("", "", "", "", a.URL, works, "")
		}
	}
	return t.print(out, "No service is published.")
}

// addressWords say from where an address works.
var addressWords = map[string]string{
	protocol.FromAnywhere: "from everywhere", protocol.FromNetwork: "from computers on your network",
	protocol.FromBrowser: "in browsers of this computer", protocol.FromComputer: "for all programs of this computer",
}

// useWords says how much a service is used.
func useWords(u protocol.ServiceUse) string {
	if u.LastUsedAt == 0 {
		return "never used"
	}
	return fmt.Sprintf("%s now, %s today, last used %s", format.Plural(u.Visitors, "visitor"), format.Plural(int(u.RequestsToday), "request"), minuteText(u.LastUsedAt))
}

func printVisitors(out io.Writer, r protocol.ServiceVisitsResult) error {
	var t table
	for _, v := range r.Visitors {
		who := flat(v.Email)
		switch {
		case v.IsOwner:
			who = "you"
		case v.ID == "":
			who = "no sign-in"
		case v.IsClaimed:
			who += " (not checked)"
		}
		until, now := "", "not there now"
		if v.ExpiresAt > 0 {
			until = "until " + minuteText(v.ExpiresAt)
		}
		if v.Since > 0 {
			now = fmt.Sprintf("from %s since %s: %s, %s sent, %s received", flat(v.From), minuteText(v.Since), format.Plural(int(v.Requests), "request"), format.Size(v.Sent), format.Size(v.Received))
		}
		t.row(v.ID, who, until, now)
	}
	return t.print(out, "Nobody is signed in.")
}
