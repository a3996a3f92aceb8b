package shell

import "strings"

// launcher describes the position of the started command in a program's arguments.
type launcher struct {
	values  string   // short options with a value
	longs   []string // long options whose value is the next word
	skip    int      // operands before the command
	assigns bool     // NAME=VALUE words may precede the command
	script  string   // short options whose value is a text for a shell
	joined  bool     // the rest is joined by spaces and passed to a shell
}

// launchers start the command in their arguments. Their options are those of GNU coreutils,
// util-linux, BSD and macOS.
var launchers = map[string]launcher{
	"env":               {values: "uCaP", longs: []string{"unset", "chdir", "argv0"}, assigns: true, script: "S"},
	"sudo":              {values: "ughpCrtTURD", longs: sudoLongs, assigns: true},
	"doas":              {values: "uC"},
	"pkexec":            {longs: []string{"user"}},
	"run0":              {values: "ugD", longs: sudoLongs},
	"nohup":             {},
	"setsid":            {},
	"nice":              {values: "n", longs: []string{"adjustment"}},
	"ionice":            {values: "cnpPu", longs: []string{"class", "classdata"}},
	"timeout":           {values: "ks", longs: []string{"kill-after", "signal"}, skip: 1},
	"gtimeout":          {values: "ks", longs: []string{"kill-after", "signal"}, skip: 1},
	"stdbuf":            {values: "ioe", longs: []string{"input", "output", "error"}},
	"time":              {values: "fo", longs: []string{"format", "output"}},
	"gtime":             {values: "fo", longs: []string{"format", "output"}},
	"command":           {},
	"builtin":           {},
	"exec":              {values: "a"},
	"noglob":            {},
	"nocorrect":         {},
	"chrt":              {values: "TPD", skip: 1},
	"taskset":           {skip: 1},
	"chroot":            {longs: []string{"userspec", "groups"}, skip: 1},
	"unshare":           {values: "SGRw", longs: []string{"wd", "root", "setuid", "setgid", "map-users", "map-groups", "propagation", "boottime", "monotonic"}},
	"nsenter":           {values: "tSGW", longs: []string{"target", "setuid", "setgid"}},
	"setpriv":           {longs: []string{"reuid", "regid", "groups", "inh-caps", "bounding-set"}},
	"capsh":             {script: "c"},
	"prlimit":           {values: "p"},
	"cpulimit":          {values: "lpe"},
	"caffeinate":        {values: "tw"},
	"strace":            {values: "abeEIoOpPsSuUX"},
	"ltrace":            {values: "aAeloFnpsuwx"},
	"valgrind":          {},
	"rlwrap":            {values: "abBcCDefFgHlmMnNoOpPqsStwz"},
	"unbuffer":          {},
	"script":            {values: "EIOBTtm", skip: 1, script: "c"},
	"watch":             {values: "nqs", longs: []string{"interval"}, joined: true},
	"flock":             {values: "wEo", longs: []string{"timeout", "wait", "conflict-exit-code"}, skip: 1, script: "c"},
	"parallel":          {values: "jSNnLIaPd", longs: []string{"jobs", "arg-file", "delay", "timeout"}, joined: true},
	"systemd-run":       {values: "pEutMH", longs: []string{"unit", "property", "setenv", "slice", "uid", "gid", "working-directory"}},
	"systemd-inhibit":   {longs: []string{"what", "who", "why", "mode"}},
	"dbus-run-session":  {longs: []string{"config-file", "dbus-daemon"}},
	"dbus-launch":       {},
	"xvfb-run":          {values: "enfps", longs: []string{"server-num", "server-args", "error-file", "auth-file"}},
	"runuser":           {values: "ugGc", longs: []string{"user", "group"}, script: "c"},
	"su":                {values: "gGsw", skip: 1, script: "c"},
	"sg":                {skip: 1, script: "c", joined: true},
	"setarch":           {skip: 1},
	"linux64":           {},
	"linux32":           {},
	"arch":              {values: "e"},
	"firejail":          {},
	"proxychains":       {values: "f"},
	"proxychains4":      {values: "f"},
	"torsocks":          {},
	"torify":            {},
	"faketime":          {values: "f", skip: 1},
	"fakeroot":          {values: "lsib"},
	"entr":              {joined: true},
	"busybox":           {},
	"toybox":            {},
	"coproc":            {},
	"then":              {},
	"repeat":            {skip: 1, assigns: true}, // of zsh, as is -
	"-":                 {assigns: true},
	"daemonize":         {values: "acepolu"},
	"start-stop-daemon": {values: "xapn"},
	"chpst":             {values: "uUbeCnlLmdorpft"},
	"catchsegv":         {},
	"ssh-agent":         {values: "aEtOP"},
	"aws-vault":         {skip: 2},
	"dotenv":            {values: "fe"},
	"direnv":            {skip: 2},
	"cross-env":         {assigns: true},
	"npx":               {values: "pc", longs: []string{"package"}, script: "c"},
	"bunx":              {},
	"uvx":               {longs: []string{"from", "with", "python"}},
	"pipx":              {skip: 1},
	"hyperfine":         {values: "wrmMpscSnLu"},
	"perf":              {values: "eo", skip: 1},
	"chronic":           {},
	"ifne":              {},
	"gosu":              {skip: 1},
	"su-exec":           {skip: 1},
	"tini":              {values: "pe"},
	"dumb-init":         {},
	"envdir":            {skip: 1},
	"setuidgid":         {skip: 1},
	"sshpass":           {values: "pfdP"},
	"eatmydata":         {},
	"numactl":           {values: "NmiCpP"},
	"proot":             {values: "rbwqikv"},
	"wine":              {},
	"wine64":            {},
	"mono":              {},
	"rr":                {skip: 1},
	"heaptrack":         {},
	"doppler":           {skip: 1},
	"op":                {skip: 1},
	"chamber":           {skip: 2},
	"watchexec":         {values: "wefiorsd", longs: []string{"workdir", "exts", "filter", "ignore", "signal", "debounce", "shell", "watch"}, joined: true},
	"nodemon":           {values: "eiwd", script: "x", longs: []string{"exec"}},
	"reflex":            {values: "rRgG"},
	"dtach":             {values: "aAcnN", skip: 1},
	"abduco":            {values: "e", skip: 1},
}

var sudoLongs = []string{"user", "group", "host", "prompt", "chdir", "role", "type", "other-user", "close-from", "chroot", "command-timeout"}

// subcommands are words after which programs start a command: bundle exec rake.
var subcommands = map[string][]string{
	"bundle": {"exec"}, "poetry": {"run"}, "pipenv": {"run"}, "uv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "pixi": {"run"},
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x"}, "mise": {"exec", "x"}, "asdf": {"exec"},
	"rbenv": {"exec"}, "pyenv": {"exec"}, "nix": {"run"}, "conda": {"run"}, "rustup": {"run"}, "opam": {"exec"}, "stack": {"exec"}, "cabal": {"exec"},
}

// remote programs run a command elsewhere: in a container or on another machine. skip is the number
// of operands before it.
var remote = map[string]struct {
	sub  []string
	skip int
}{
	"docker": {[]string{"exec", "run"}, 1}, "podman": {[]string{"exec", "run"}, 1}, "nerdctl": {[]string{"exec", "run"}, 1},
	"docker-compose": {[]string{"exec", "run"}, 1}, "podman-compose": {[]string{"exec", "run"}, 1},
	"kubectl": {[]string{"exec"}, 1}, "oc": {[]string{"exec"}, 1}, "ssh": {nil, 1}, "mosh": {nil, 1}, "rsh": {nil, 1}, "autossh": {nil, 1},
}

// starters are options, by program, whose value is a command that the program starts.
var starters = map[string][]string{
	"tar": {
		"-I", "--use-compress-program", "--to-command", "--checkpoint-action", "-F", "--info-script", "--new-volume-script", "--rsh-command",
		"--rmt-command",
	},
	"gtar":   {"-I", "--use-compress-program", "--to-command", "--checkpoint-action", "-F", "--info-script", "--new-volume-script", "--rsh-command"},
	"bsdtar": {"--use-compress-program"}, "rsync": {"-e", "--rsh", "--rsync-path"}, "sort": {"--compress-program"},
	"rg": {"--pre", "--hostname-bin"}, "go": {"-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"},
	"ssh": {"-o"}, "scp": {"-o", "-S"}, "sftp": {"-o", "-S"}, "npm": {"--script-shell"}, "pnpm": {"--script-shell"}, "man": {"-P", "--pager", "-H"},
	"wget": {"--use-askpass"}, "zip": {"-TT", "--unzip-command"}, "vim": {"-c", "--cmd"}, "vi": {"-c"}, "nvim": {"-c", "--cmd"}, "ex": {"-c"},
	"split": {"--filter"}, "install": {"--strip-program"}, "ginstall": {"--strip-program"}, "helm": {"--post-renderer"}, "svn": {"--diff-cmd", "--diff3-cmd", "--editor-cmd"}, "less": {"--lesskey-content"}, "cargo": {"--config", "-s"}, "gdb": {"-ex"}, "lldb": {"-o"}, "psql": {"-c"},
	"nodemon": {"--exec", "-x"}, "nano": {"-s", "--speller"}, "strace": {"-o", "--output"}, "ltrace": {"-o", "--output"},
	"hyperfine": {"-p", "--prepare", "-c", "--cleanup", "-s", "--setup", "--conclude"}, "nc": {"-e", "-c"}, "netcat": {"-e", "-c"},
	"ncat": {"-e", "-c", "--exec", "--sh-exec"}, "tig": {"-C"}, "fzf": {"--preview", "--bind"}, "rlwrap": {"-z", "--filter"},
	"flatpak": {"--command"}, "ghc": {"-e"}, "runghc": {"-e"}, "mutt": {"-e"},
	"mapfile": {"-C"}, "readarray": {"-C"}, "compgen": {"-C"}, "complete": {"-C"}, "fc": {"-e"}, "nmap": {"--script"}, "tcpdump": {"-z"}, "ctags": {"--filter-terminator"}, "dpkg": {"--pre-invoke", "--post-invoke"},
	"apt-get": {"-o"}, "apt": {"-o"}, "mail": {"-:"}, "cpio": {"--rsh-command"}, "wget2": {"--use-askpass"},
	"git": {
		"-x", "--exec", "--extcmd", "--upload-pack", "--receive-pack", "-O", "--open-files-in-pager", "--tree-filter", "--index-filter",
		"--msg-filter", "--env-filter", "--commit-filter", "--tag-name-filter", "--parent-filter", "--setup",
	},
}

// shells read a script from -c, from a file, or from their input.
var shells = map[string]Kind{
	"bash": Bash, "sh": POSIX, "dash": POSIX, "ash": POSIX, "zsh": Zsh, "ksh": Bash, "mksh": Bash, "rbash": Bash,
	"rzsh":  Zsh,
	"bash5": Bash, "yash": POSIX, "hush": POSIX,
}

// Shells reports whether a program is a shell of the Bourne family.
func Shells(name string) bool { _, ok := shells[Base(name)]; return ok }

// Launches reports whether a program is known to start the command in its arguments.
func Launches(name string) bool { _, ok := launcherOf(Base(name)); return ok }

// Loader reports whether a program is the dynamic loader, such as ld-linux-x86-64.so.2, which can
// be run directly.
func Loader(name string) bool {
	name = Base(name)
	return name == "ld.so" || strings.HasPrefix(name, "ld-") && strings.Contains(name, ".so")
}

func launcherOf(name string) (launcher, bool) {
	l, ok := launchers[name]
	if !ok && Loader(name) {
		return launcher{longs: []string{"preload", "library-path", "audit", "argv0", "inhibit-rpath", "glibc-hwcaps-prepend", "glibc-hwcaps-mask"}}, true
	}
	return l, ok
}
