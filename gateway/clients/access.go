package clients

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Gateway makes and ends the tokens of clients. Its methods block.
type Gateway interface {
	Apps(ctx context.Context) ([]protocol.App, error)
	CreateToken(ctx context.Context, p protocol.TokenCreateParams) (protocol.TokenCreateResult, error)
	RevokeApp(ctx context.Context, id protocol.AppID) error
}

// Access gives the clients of this computer access to a gateway. Home is the data folder, whose
// keychain has their tokens.
type Access struct {
	Home    string
	Gateway Gateway
}

// Arguments are the arguments with which a client starts Fairlead. An empty url is the default
// gateway, an empty home the default data folder.
func (c Client) Arguments(url, home string) []string {
	args := []string{"mcp", "--app", c.ID}
	if url != "" {
		args = append(args, "--url", url)
	}
	if home != "" { // the client does not set it
		args = append(args, "--home", home)
	}
	return args
}

// secretName is the name of a client's token in the keychain. The value is the ID of the app at the
// gateway, a blank, and the token.
func secretName(client string) string { return "app-token-" + client }

// Token reads the stored token of a client, and the ID of its app. The ID is empty if an older version
// stored the token. The error is [keychain.ErrNotFound] without a token.
func (a Access) Token(client string) (id protocol.AppID, token string, err error) {
	secret, err := keychain.Open(a.Home).Get(secretName(client))
	if err != nil {
		return "", "", fmt.Errorf("read the token of %s: %w", client, err)
	}
	text := secret.Reveal()
	blank := strings.LastIndexByte(text, ' ')
	return protocol.AppID(text[:max(blank, 0)]), text[blank+1:], nil
}

// App returns the app that an earlier installation made for a client, and why its token does not
// work; problem is empty if it works. Apps that the person made are never returned, whatever their
// names are.
func (a Access) App(ctx context.Context, c Client) (app protocol.App, problem string, err error) {
	id, _, err := a.Token(c.ID)
	if errors.Is(err, keychain.ErrNotFound) {
		return app, "this computer does not have its token", nil
	}
	if err != nil {
		return app, "", err
	}
	list, err := a.Gateway.Apps(ctx)
	if i := slices.IndexFunc(list, func(a protocol.App) bool { return a.ID == id }); i >= 0 {
		app = list[i]
	}
	return app, tokenProblem(app), err
}

// Install gives a client a new token, which replaces an earlier one, and makes the change of its
// settings.
func (a Access) Install(ctx context.Context, c Client, change Change) error {
	app, problem, err := a.App(ctx, c)
	if err == nil && problem == "" {
		err = a.Gateway.RevokeApp(ctx, app.ID)
	}
	if err != nil {
		return err
	}
	made, err := a.Gateway.CreateToken(ctx, protocol.TokenCreateParams{Name: c.Title, Scopes: protocol.UsualAppScopes})
	if err != nil {
		return err
	}
	if err := keychain.Open(a.Home).Set(secretName(c.ID), keychain.Secret(string(made.App.ID)+" "+made.Token)); err != nil {
		return fmt.Errorf("store the token of %s: %w", c.Title, err)
	}
	return change.Apply()
}

// tokenProblem says why the token of an app does not work. The zero App stands for one that the
// gateway does not have.
func tokenProblem(a protocol.App) string {
	switch {
	case a.ID == "":
		return "the gateway does not know its token"
	case a.RevokedAt > 0:
		return "its token was revoked"
	case a.ExpiresAt > 0 && a.ExpiresAt <= time.Now().UnixMilli():
		return "its token has expired"
	}
	return ""
}
