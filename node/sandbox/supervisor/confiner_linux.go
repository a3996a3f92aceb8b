package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"fairlead/node/sandbox/confine"
	"fairlead/node/workspace"
)

// maxRulesets is the number of rulesets that are cached for further commands of the same profile.
const maxRulesets = 8

type confiner struct {
	settings Settings
	files    bool // Landlock is available and enabled
	filter   bool
	mounts   bool // commands can get a view of their own
	// Landlock can restrict Unix sockets by path, so that connecting need not be denied altogether
	connect  bool
	temp     string            // folder of the private temporary folders, created on first use
	tempLock *os.File          // locked as long as temp is in use
	temps    map[string]*temp  // by their paths
	copies   map[string]string // of files of the system, by their paths
	rulesets map[string]*confine.Ruleset
}

func newConfiner(set Settings) *confiner {
	c := &confiner{
		settings: set, temps: map[string]*temp{}, rulesets: map[string]*confine.Ruleset{},
		files:  confine.ABI() > 0 && !slices.Contains(set.Missing, "landlock"),
		filter: confine.Filters() && !slices.Contains(set.Missing, "seccomp"),
	}
	// Without the filter, a command could change its view.
	c.mounts = c.filter && !slices.Contains(set.Missing, "mounts") && confine.CanIsolate()
	c.connect = c.files && confine.ABI() >= 9
	return c
}

// restrictions are the restrictions of a command. If files is nil, wrap are the arguments of
// bubblewrap; without either, files are not restricted.
type restrictions struct {
	rules confine.Rules
	files *confine.Ruleset
	wrap  []string
	view  *confine.View // nil: the same as everyone's
	own   confine.Own   // of the view, once the command starts
	// programs cannot be started
	programs []confine.Program
}

// enterView gives the calling thread the view of a command.
func (b *restrictions) enterView() error {
	own, err := b.view.Enter()
	b.own = own
	if err != nil || b.files == nil {
		return err
	}
	return b.files.Grant(own)
}

// devices can be used by every contained command. All others are hidden: whoever can read a disk
// can read every secret on it, and there are keyboards and cameras. A terminal is visible only to
// the command that owns it.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// prepare returns a command's environment and restrictions; nil restrictions: none.
func (c *confiner) prepare(o *wireRequest, stdin int) ([]string, *restrictions, error) {
	p := o.Restrictions
	if p == nil {
		return o.Env, nil, nil
	}
	key := strings.Join(append(append([]string{strconv.FormatBool(p.Network), strconv.Itoa(len(p.Writable))}, p.Writable...), p.Readable...), "\x00")
	temp, err := c.tempFor(p)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a private temporary folder: %w", err)
	}
	env := slices.DeleteFunc(o.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "TMPDIR" || name == "TMP" || name == "TEMP" || name == "XDG_CACHE_HOME"
	})
	env = append(env, "TMPDIR="+temp.dir, "XDG_CACHE_HOME="+filepath.Join(temp.dir, ".cache"))
	// At the other end of a Unix socket, a Docker daemon or the user's systemd would do anything
	// for a command.
	b := &restrictions{rules: confine.Rules{Filter: c.filter, NoNet: !p.Network, NoConnect: !p.Network && !c.connect}}
	if c.files && c.filter { // a kernel with Landlock can also watch programs
		b.programs = p.Programs
	}
	wrapped := !c.files && c.settings.Wrap != ""
	view := c.view(p)
	f := confine.Files{
		Hidden: append([]string{"/dev"}, c.settings.Hidden...), Read: append(slices.Clone(c.settings.Shown), p.Readable...),
		Write: append([]string{temp.dir}, p.Writable...), Devices: devices, NoTCP: !p.Network,
	}
	tty := ""
	if o.PTY {
		if path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(stdin)); err == nil && strings.HasPrefix(path, "/dev/") {
			tty = path
			f.Devices = append(slices.Clone(devices), tty)
			key += "\x00" + tty
		}
	}
	if c.mounts && !wrapped {
		b.view = &view
		b.view.Terminal = tty
		if err := c.giveOwn(b.view, temp, o); err != nil {
			return nil, nil, fmt.Errorf("preparing the private temporary folder: %w", err)
		}
		if b.view.OwnTerminals {
			f.Devices = append(slices.Clone(f.Devices), "/dev/ptmx")
		}
	}
	if !c.files && !wrapped {
		return env, b, nil
	}
	if wrapped {
		b.wrap = confine.Wrapping{Files: f, View: view, Blank: filepath.Join(c.temp, blankName), NoNet: f.NoTCP}.Args()
		return env, b, nil
	}
	b.files, err = c.ruleset(key, f)
	return env, b, err
}

// view returns the view of a command.
func (c *confiner) view(p *confine.Restrictions) confine.View {
	v := confine.View{
		ReadOnly: p.ReadOnly, Hidden: p.Hidden, Replaced: c.copies,
		BlankFile: filepath.Join(c.temp, blankName), BlankFolder: filepath.Join(c.temp, blankFolderName),
	}
	for _, w := range p.Writable {
		v.Writable = append(v.Writable, workspace.RealPath(w))
	}
	return v
}

func (c *confiner) ruleset(key string, f confine.Files) (*confine.Ruleset, error) {
	if r := c.rulesets[key]; r != nil {
		if r.Fresh() {
			return r, nil
		}
		r.Close()
		delete(c.rulesets, key)
	}
	r, err := confine.NewRuleset(f)
	if err != nil {
		return nil, err
	}
	if len(c.rulesets) == maxRulesets {
		for _, old := range c.rulesets {
			old.Close()
		}
		clear(c.rulesets)
	}
	c.rulesets[key] = r
	return r, nil
}

// blankName and blankFolderName are the names of an empty file and an empty folder without
// permissions, beside the private temporary folders.
const blankName, blankFolderName = "blank", "empty"

// foreignFiles are files of the system that OpenSSH only reads if they belong to root or to the
// user. In a name space of users of its own, they belong to nobody.
var foreignFiles = []string{"/etc/ssh/ssh_config.d/*", "/etc/crypto-policies/back-ends/openssh.config"}

// copySystemFiles makes copies that belong to the user, where commands need them.
func (c *confiner) copySystemFiles() {
	if info, err := os.Stat("/"); err != nil || !c.mounts || info.Sys().(*syscall.Stat_t).Uid == 0 {
		return
	}
	c.copies = map[string]string{}
	for _, pattern := range foreignFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			real, linkErr := filepath.EvalSymlinks(f)
			if err != nil || linkErr != nil {
				continue // unreadable for commands, too
			}
			name := filepath.Join(c.temp, "system-"+strconv.Itoa(len(c.copies)))
			if os.WriteFile(name, text, 0o600) == nil {
				c.copies[real] = name
			}
		}
	}
}
