package clients

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestATokenThatDoesNotWorkSaysWhy(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		app  protocol.App
		want string
	}{
		{protocol.App{}, "the gateway does not know its token"},
		{protocol.App{ID: "a", RevokedAt: 1}, "its token was revoked"},
		{protocol.App{ID: "a", ExpiresAt: now.Add(-time.Minute).UnixMilli()}, "its token has expired"},
		{protocol.App{ID: "a", ExpiresAt: now.Add(time.Minute).UnixMilli()}, ""},
		{protocol.App{ID: "a"}, ""},
	} {
		if got := tokenProblem(c.app); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.app, got, c.want)
		}
	}
}

// tokens is a gateway that makes tokens.
type tokens struct {
	apps    []protocol.App
	revoked []protocol.AppID
}

func (g *tokens) Apps(context.Context) ([]protocol.App, error) { return g.apps, nil }

func (g *tokens) CreateToken(_ context.Context, p protocol.TokenCreateParams) (protocol.TokenCreateResult, error) {
	app := protocol.App{ID: protocol.AppID("app" + string(rune('0'+len(g.apps)))), Name: p.Name}
	g.apps = append(g.apps, app)
	return protocol.TokenCreateResult{App: app, Token: "token-of-" + string(app.ID)}, nil
}

func (g *tokens) RevokeApp(_ context.Context, id protocol.AppID) error {
	g.revoked = append(g.revoked, id)
	return nil
}

func TestInstallGivesATokenAndReplacesTheLastOne(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home := t.TempDir()
	c, _ := ByID(All(home, home), "cursor")
	g := &tokens{}
	access := Access{Home: t.TempDir(), Gateway: g}
	for i, want := range []string{"token-of-app0", "token-of-app1"} {
		change, err := c.Add("/bin/fairlead", c.Arguments("", "/data")...)
		if err != nil {
			t.Fatal(err)
		}
		if err := access.Install(t.Context(), c, change); err != nil {
			t.Fatal(err)
		}
		if _, token, err := access.Token(c.ID); err != nil || token != want {
			t.Errorf("Token after installation %d: got %q, %v, want %q", i+1, token, err, want)
		}
	}
	if len(g.revoked) != 1 || g.revoked[0] != "app0" {
		t.Errorf("Revoked: got %v, want the first token", g.revoked)
	}
	text, err := os.ReadFile(filepath.Join(home, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(text), "/data") {
		t.Errorf("Settings of the client: got %q, %v, want the command of Fairlead", text, err)
	}
}
