package pairing

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// machine returns a machine that uses an invitation.
func machine(t *testing.T, i protocol.DeviceInvite) pake.Device {
	t.Helper()
	link, err := pake.ParseLink(i.Link)
	if err != nil {
		t.Fatal(err)
	}
	return pake.Device{Key: identity.NewKey(), Link: &link, Applicant: pake.Applicant{Role: protocol.RoleNode, NodeID: "pi"}}
}

func TestUnattendedInvitationPairsOneMachineWithoutAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		invite, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{Name: "web-1", Unattended: true})
		if err != nil {
			t.Fatal(err)
		}
		out, hangUp := startPairing(t, m, machine(t, invite))
		defer hangUp()
		if got := <-out; got.err != nil || got.done.Device.Name != "web-1" {
			t.Errorf("got %+v, want web-1 paired", got)
		}
		again, hangUp := startPairing(t, m, machine(t, invite))
		defer hangUp()
		if got := <-again; !errors.Is(got.err, protocol.ErrNotFound) {
			t.Errorf("second machine: got %v, want %v", got.err, protocol.ErrNotFound)
		}
		if asked := pendingRequests(t, m); len(asked) > 0 {
			t.Errorf("got questions %+v, want none", asked)
		}
		if got := k.lines[0]; got.By != "owner" || !strings.Contains(got.What, "without a question") {
			t.Errorf("got audit entry %+v, want who made the invitation, and that it asks nothing", got)
		}
		if _, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{Role: protocol.RoleClient, Unattended: true}); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("client: got %v, want %v", err, protocol.ErrBadRequest)
		}
	})
}

// TestRegisteredMachineWaitsForAPersonElsewhere: a program has made the invitation, so nobody may be at
// the gateway when it is used.
func TestRegisteredMachineWaitsForAPersonElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, &memoryStore{})
		invite, err := m.Register(t.Context(), "app a", "pi")
		if err != nil {
			t.Fatal(err)
		}
		out, hangUp := startPairing(t, m, machine(t, invite))
		defer hangUp()
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if err := answer(m, pendingRequests(t, m)[0], protocol.DecisionAllow); err != nil {
			t.Fatal(err)
		}
		if got := <-out; got.err != nil {
			t.Errorf("got %v, want the machine paired", got.err)
		}
		for range maxRegistered {
			if _, err = m.Register(t.Context(), "app a", ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err = m.Register(t.Context(), "app a", ""); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("one more: got %v, want %v", err, protocol.ErrConflict)
		}
		if _, err = m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{}); err != nil {
			t.Errorf("the owner's own invitation: %v", err)
		}
	})
}

func TestCommandsPassTheLinkOnOutsideOfArguments(t *testing.T) {
	link := pake.Link{Addresses: []string{"[fd00::1]:8788", "10.0.0.1:8788"}, Pin: testPin, Invite: "i", Secret: pake.NewSecret(), Role: protocol.RoleNode}
	c := installCommands{protocol.NetworkStatus{Pin: testPin, Addresses: link.Addresses}, link.String(), "web-1"}
	again, err := pake.ParseLink(c.plainLink())
	if err != nil || again.String() != link.String() {
		t.Errorf("got link %s, error %v, want %s", again, err, link)
	}
	for got, want := range map[string]string{
		c.shell(): `(echo "FAIRLEAD_PAIR='LINK' FAIRLEAD_NAME='web-1'"; curl -fsSk --pinnedpubkey 'sha256//PIN' https://[fd00::1]:8788/install.sh || echo exit 1) | sh`,
		c.powerShell(): `$env:FAIRLEAD_PAIR='LINK'; $env:FAIRLEAD_NAME='web-1'; ` +
			`curl.exe -fsSk --pinnedpubkey 'sha256//PIN' https://[fd00::1]:8788/install.ps1 | Out-String | Invoke-Expression`,
		c.cmd(): `set "FAIRLEAD_PAIR=LINK" && set "FAIRLEAD_NAME=web-1" && curl.exe -fsSk --pinnedpubkey "sha256//PIN" -o "%TEMP%\fairlead-install.ps1" ` +
			`https://[fd00::1]:8788/install.ps1 && powershell -NoProfile -ExecutionPolicy Bypass -File "%TEMP%\fairlead-install.ps1"`,
	} {
		if got = strings.NewReplacer(c.plainLink(), "LINK", testPin, "PIN").Replace(got); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
	for _, name := range []string{"", "it's", "$(id)", "a b", "a\nb", `"&calc`} {
		c.name = name
		for _, got := range []string{c.shell(), c.powerShell(), c.cmd()} {
			if strings.Contains(got, "FAIRLEAD_NAME") {
				t.Errorf("name %q: got %s, want the command without it", name, got)
			}
		}
	}
}
