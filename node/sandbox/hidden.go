package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// secretPlaces are where people keep keys and tokens, below their home folder. Of .ssh what is no secret stays readable: see sshOpen.
var secretPlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc",
	".git-credentials", ".pgpass", ".npmrc", ".pypirc", ".docker/config.json",
	".config/gcloud", ".config/gh", ".config/git/credentials", ".local/share/keyrings", ".password-store",
}

// hidden lists what no contained command may read: the program's own folder, keys and tokens; and what may be read all the same.
func hidden(opts Options) (hide, show []string) {
	hide = append(hide, opts.Secrets...)
	if opts.Home != "" {
		hide = append(hide, opts.Home)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return hide, nil
	}
	for _, p := range secretPlaces {
		hide = append(hide, filepath.Join(home, filepath.FromSlash(p)))
	}
	return hide, sshOpen(filepath.Join(home, ".ssh"))
}

// Hides lists the places of keys and tokens that no contained command may read anything of, where that is enforced; .ssh, of which some is no secret,
// is not among them.
func Hides() (list []string) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return nil
	}
	for _, p := range secretPlaces {
		if p != ".ssh" {
			list = append(list, filepath.Join(home, filepath.FromSlash(p)))
		}
	}
	return list
}

// sshOpen are the files of .ssh that hold no secret.
func sshOpen(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var open []string
	for _, e := range entries {
		if e.Type().IsRegular() && sshOpenName(e.Name()) {
			open = append(open, filepath.Join(dir, e.Name()))
		}
	}
	return open
}

func sshOpenName(name string) bool {
	return name == "config" || strings.HasPrefix(name, "known_hosts") || strings.HasSuffix(name, ".pub")
}
