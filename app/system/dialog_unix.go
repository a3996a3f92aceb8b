//go:build linux || freebsd || openbsd || netbsd

package system

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/godbus/dbus/v5"

	"fairlead/gateway/peer/keychain"
)

const (
	portalName       = "org.freedesktop.portal.Desktop"
	portalPath       = "/org/freedesktop/portal/desktop"
	chooserInterface = "org.freedesktop.portal.FileChooser"
	requestInterface = "org.freedesktop.portal.Request"
)

// Responses of a portal's request.
const (
	responseDone      = 0
	responseCancelled = 1
)

// Ask shows the desktop's dialog and waits for the answer: paths, none if the person cancelled it.
// parent is the window that the dialog belongs to, as the portal names it ("x11:1a2b"); it may be
// empty. The error is [ErrNoDialog] if there is no dialog to show.
func Ask(ctx context.Context, parent string, q Question) ([]string, error) {
	conn, err := keychain.ConnectSessionBus()
	if err != nil {
		return nil, ErrNoDialog
	}
	defer conn.Close()
	// The path of the request follows from the token, so the answer cannot arrive too early.
	token := "fairlead_" + rand.Text()
	sender := strings.ReplaceAll(strings.TrimPrefix(conn.Names()[0], ":"), ".", "_")
	request := dbus.ObjectPath(portalPath + "/request/" + sender + "/" + token)
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	err = errors.Join(
		conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface(requestInterface), dbus.WithMatchObjectPath(request)),
		conn.AddMatchSignalContext(ctx, dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, portalName)),
	)
	if err == nil {
		call := conn.Object(portalName, portalPath).CallWithContext(ctx, chooserInterface+"."+method(q), 0, parent, q.Title, options(q, token))
		err = call.Err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDialog, err)
	}
	for {
		select {
		case <-ctx.Done():
			conn.Object(portalName, request).Go(requestInterface+".Close", dbus.FlagNoReplyExpected, nil)
			return nil, context.Cause(ctx)
		case s, ok := <-signals:
			switch {
			case !ok, isGone(s):
				return nil, fmt.Errorf("%w: it ended", ErrNoDialog)
			case s.Path == request && s.Name == requestInterface+".Response":
				return parseResponse(s.Body)
			}
		}
	}
}

// isGone reports whether a signal says that the portal has ended.
func isGone(s *dbus.Signal) bool {
	if s.Name != "org.freedesktop.DBus.NameOwnerChanged" || len(s.Body) < 3 {
		return false
	}
	owner, _ := s.Body[2].(string)
	return s.Body[0] == portalName && owner == ""
}

func method(q Question) string {
	if q.Kind == SaveFile {
		return "SaveFile"
	}
	return "OpenFile"
}

func options(q Question, token string) map[string]dbus.Variant {
	o := map[string]dbus.Variant{"handle_token": dbus.MakeVariant(token), "accept_label": dbus.MakeVariant(q.Button)}
	switch q.Kind {
	case OpenFiles:
		o["multiple"] = dbus.MakeVariant(true)
	case SaveFile:
		o["current_name"] = dbus.MakeVariant(q.Name)
	case ChooseFolder:
		o["directory"] = dbus.MakeVariant(true)
	}
	if q.Dir != "" { // a C string, because names of files may have any encoding
		o["current_folder"] = dbus.MakeVariant(append([]byte(q.Dir), 0))
	}
	return o
}

// parseResponse returns the paths of a response.
func parseResponse(body []any) ([]string, error) {
	if len(body) < 2 {
		return nil, fmt.Errorf("%w: its answer is invalid", ErrNoDialog)
	}
	results, _ := body[1].(map[string]dbus.Variant)
	switch body[0] {
	case uint32(responseDone):
	case uint32(responseCancelled):
		return nil, nil
	default:
		return nil, fmt.Errorf("%w: it failed", ErrNoDialog)
	}
	uris, _ := results["uris"].Value().([]string)
	var paths []string
	for _, uri := range uris {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "file" || u.Path == "" {
			return nil, fmt.Errorf("only files of this computer can be chosen, not %s", uri)
		}
		paths = append(paths, u.Path)
	}
	return paths, nil
}
