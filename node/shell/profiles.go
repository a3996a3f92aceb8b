package shell

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// profileLimit is how long a login profile may take before the command runs without it.
	profileLimit = 10 * time.Second
	// shellLimit is how long a shell without a profile may take to start on a busy machine.
	shellLimit = time.Minute
	// hungPause is how long a profile that took too long is not tried again.
	hungPause = 10 * time.Minute

	reasonHangs = "it does not end"
)

// profiles are the login profiles that do not start commands. The zero value is ready for use.
type profiles struct {
	mu     sync.Mutex // guards broken
	broken map[profileKey]brokenProfile
}

// profileKey identifies the profile of a shell, by its name, and a user, and its version.
type profileKey struct{ shell, user, stamp string }

type brokenProfile struct {
	warning   string
	hungAt    time.Time // zero if it ended by itself
	isWorking bool      // since then, for example with a terminal
}

// key returns the key of the profile that a shell reads for a user; nil is the node's own.
func (*profiles) key(shell string, a *account) profileKey {
	k := profileKey{shell: filepath.Base(shell)}
	home, _ := os.UserHomeDir()
	if a != nil {
		k.user, home = a.name, a.home
	}
	for _, path := range profileFiles("/etc", home) {
		if info, err := os.Stat(path); err == nil {
			k.stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), "\n")
		}
	}
	return k
}

// isUsable reports whether to try a profile. One that ends by itself is always tried, because that
// takes no time.
func (p *profiles) isUsable(k profileKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.broken[k]
	return b.hungAt.IsZero() || time.Since(b.hungAt) > hungPause
}

func (p *profiles) setWorking(k profileKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deleteOther(k)
	if b, ok := p.broken[k]; ok {
		b.isWorking, b.hungAt = true, time.Time{}
		p.broken[k] = b
	}
}

// setBroken stores that a profile does not start commands, and returns the warning if it was not given
// before.
func (p *profiles) setBroken(k profileKey, reason string) (warning string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deleteOther(k)
	b := brokenProfile{warning: fmt.Sprintf("The login profile of %s does not start commands: %s. They run without it, so variables that it sets are missing. Correct its files, such as ~/.profile.", k.shell, reason)}
	if k.user != "" {
		b.warning = strings.Replace(b.warning, "The login profile", "The login profile of "+k.user+" for", 1)
	}
	if strings.HasPrefix(reason, reasonHangs) {
		b.hungAt = time.Now()
	}
	if p.broken[k].warning == "" {
		warning = b.warning
	}
	if p.broken == nil {
		p.broken = make(map[profileKey]brokenProfile)
	}
	p.broken[k] = b
	return warning
}

// deleteOther deletes what is known about earlier versions of a profile.
func (p *profiles) deleteOther(k profileKey) {
	maps.DeleteFunc(p.broken, func(o profileKey, _ brokenProfile) bool {
		return o.shell == k.shell && o.user == k.user && o.stamp != k.stamp
	})
}

// Warnings lists the login profiles without which commands run, because these do not start them.
func (t *Jobs) Warnings() (list []string) {
	t.launcher.profiles.mu.Lock()
	defer t.launcher.profiles.mu.Unlock()
	for _, b := range t.launcher.profiles.broken {
		if !b.isWorking {
			list = append(list, b.warning)
		}
	}
	slices.Sort(list)
	return list
}

// profileFiles lists the files that login shells read.
func profileFiles(etc, home string) (files []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{"profile", "environment", "zshenv", "zprofile", "zsh/zshenv", "zsh/zprofile", "bash.bashrc"} {
		files = append(files, filepath.Join(etc, name))
	}
	more, _ := filepath.Glob(filepath.Join(etc, "profile.d", "*.sh")) // the pattern is valid
	files = append(files, more...)
	if home != "" {
		for _, name := range []string{".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zprofile", ".zlogin", ".zshrc", ".config/fish/config.fish"} {
			files = append(files, filepath.Join(home, name))
		}
	}
	return files
}
