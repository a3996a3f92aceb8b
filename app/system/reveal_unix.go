//go:build linux || freebsd || openbsd || netbsd

package system

import (
	"context"
	"fmt"
	"net/url"

	"fairlead/gateway/peer/keychain"
)

// Reveal shows a file or folder in the file manager, selected in its folder. It blocks.
func Reveal(ctx context.Context, path string) error {
	conn, err := keychain.ConnectSessionBus()
	if err != nil {
		return fmt.Errorf("connecting to the session bus: %w", err)
	}
	defer conn.Close()
	const name = "org.freedesktop.FileManager1"
	uri := (&url.URL{Scheme: "file", Path: path}).String()
	return conn.Object(name, "/org/freedesktop/FileManager1").CallWithContext(ctx, name+".ShowItems", 0, []string{uri}, "").Err
}
