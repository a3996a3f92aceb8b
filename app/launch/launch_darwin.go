package launch

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const label = "app.fairlead.desktop"

func file() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home folder: %w", err)
	}
	return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), nil
}

// agent is the property list of the launch agent; see launchd.plist(5).
func (p Program) agent() []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n<plist version=\"1.0\"><dict>\n<key>Label</key><string>" + label + "</string>\n<key>ProgramArguments</key><array>\n")
	for _, a := range append([]string{p.Path}, p.Login...) {
		b.WriteString("<string>")
		xml.EscapeText(&b, []byte(a)) //nolint:errcheck // a buffer takes all
		b.WriteString("</string>\n")
	}
	b.WriteString("</array>\n<key>RunAtLoad</key><true/>\n</dict></plist>\n")
	return b.Bytes()
}

// AtLogin reports whether the system starts this copy of the program at login.
func (p Program) AtLogin() bool {
	f, err := file()
	if err != nil {
		return false
	}
	data, err := os.ReadFile(f)
	return err == nil && bytes.Equal(data, p.agent())
}

// SetAtLogin registers or unregisters the start at login.
func (p Program) SetAtLogin(on bool) error {
	f, err := file()
	if err != nil {
		return err
	}
	if !on {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
		return err
	}
	return os.WriteFile(f, p.agent(), 0o644)
}

// SupportsLinks is false: macOS opens links only with bundles that declare them.
const SupportsLinks = false

// Links is not supported.
func (p Program) Links() bool { return false }

// SetLinks is not supported.
func (p Program) SetLinks(bool) error { return errors.ErrUnsupported }
