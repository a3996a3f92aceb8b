package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/approval/shell"
)

// hit is a word that turns a program into another one: no rule covers it without spelling it.
type hit struct {
	at     int // index of the word, or one of the two below
	why    string
	opaque bool // it runs what cannot be judged
}

const (
	never     = -1 // no rule covers it
	exactOnly = -2 // only a rule that spells every word
)

// guarded says what to look out for in a program's options.
type guarded struct {
	short  string   // letters of short options
	values string   // short options that take a value: what follows in the word is not a letter
	long   []string // long options; also met by what they start with
	plain  []string // long options that only look like one of those
	words  []string // options with one dash that are words, as find's
	opaque bool     // they run programs,
	quiet  []string // but for these
}

// quietNode are options of npm and its like that lead elsewhere, but start nothing by themselves.
var quietNode = []string{"--prefix", "--userconfig", "--globalconfig", "-C", "--dir", "--cwd"}

var tables = map[string]guarded{
	"find": {words: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf", "-files0-from"}},
	"fd":   {short: "xX", values: "eEtdSoc", long: []string{"--exec", "--exec-batch", "--base-directory"}},
	"rg": {
		short: "z", values: "efgtTABCmjMrEd", opaque: true,
		long: []string{"--pre", "--hostname-bin", "--search-zip", "--config"}, plain: []string{"--pretty", "--pre-glob"}, quiet: []string{
			"-z",
			"--search-zip",
		},
	},
	"sort": {
		short: "oT", values: "kSt", long: []string{"--output", "--compress-program", "--files0-from", "--temporary-directory", "--random-source"},
		plain: []string{"--random-sort", "--check"},
	},
	"tar": {short: "IF", values: "fCTXbgHKLNV", opaque: true, long: []string{
		"--checkpoint-action", "--to-command", "--use-compress-program",
		"--rsh-command",
		"--rmt-command", "--info-script", "--new-volume-script",
	}, plain: []string{"--checkpoint"}},
	"go": {
		words: []string{"-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-o", "-fixtool", "-C", "-gccgoflags", "-compiler"}, opaque: true,
		quiet: []string{"-o", "-overlay", "-modfile", "-C"},
	},
	"npm":  {long: []string{"--script-shell", "--prefix", "--userconfig", "--globalconfig", "--node-options"}, opaque: true, quiet: quietNode},
	"pnpm": {long: []string{"--script-shell", "--prefix", "--dir", "--node-options"}, short: "C", values: "F", opaque: true, quiet: quietNode},
	"yarn": {long: []string{"--script-shell", "--prefix", "--cwd", "--use-yarnrc"}, opaque: true, quiet: quietNode},
	"curl": {
		short: "oOKTcDJ", values: "AbCdEeFHmPQrtUuwXxYyz", long: []string{
			"--output", "--remote-name", "--remote-name-all", "--config",
			"--upload-file",
			"--cookie-jar", "--dump-header", "--output-dir", "--trace", "--trace-ascii", "--libcurl", "--stderr", "--netrc-file", "--unix-socket",
			"--etag-save", "--hsts", "--alt-svc", "--engine", "--abstract-unix-socket",
		},
		plain: []string{"--trace-time"},
	},
	"wget": {short: "OPoaiex", values: "tTwQU", long: []string{
		"--output-document", "--directory-prefix", "--output-file", "--append-output", "--config",
		"--execute", "--use-askpass", "--post-file", "--body-file", "--input-file", "--save-cookies", "--warc-file",
	}},
	"man":     {short: "PHC", values: "LmMrRSseEp", long: []string{"--pager", "--html", "--browser", "--config-file"}, opaque: true},
	"file":    {short: "mC", values: "eFfP", long: []string{"--magic-file", "--compile"}},
	"less":    {short: "oOkK", values: "bhjpPtTxyz#", long: []string{"--log-file", "--lesskey-file", "--lesskey-src", "--lesskey-content", "--LOG-FILE", "--cmd"}, opaque: true},
	"install": {long: []string{"--strip-program"}, opaque: true},
	"kubectl": {long: []string{"--kubeconfig"}, opaque: true},
	"helm":    {long: []string{"--kubeconfig", "--post-renderer"}, opaque: true},
	"docker":  {short: "H", values: "velptuwfnhm", long: []string{"--host", "--config", "--context"}, opaque: true, quiet: []string{"-H", "--host", "--context"}},
	"hg": {
		short: "R", values: "rbBdlmptuXI", long: []string{"--config", "--repository", "--cwd", "--debugger"}, opaque: true,
	},
	"svn": {long: []string{"--config-dir", "--config-option", "--diff-cmd", "--diff3-cmd", "--editor-cmd"}, opaque: true},
	// What these take as a setting is code that they run.
	"eslint":        {short: "cf", values: "o", long: []string{"--config", "--rulesdir", "--parser", "--plugin", "--resolve-plugins-relative-to", "--format", "--flag"}},
	"prettier":      {long: []string{"--config", "--plugin", "--plugin-search-dir", "--parser"}, plain: []string{"--config-precedence"}},
	"jest":          {short: "c", values: "tnwo", long: jestCode},
	"vitest":        {short: "c", values: "tw", long: []string{"--config", "--root", "--globalsetup", "--environment", "--reporter", "--pool"}},
	"pytest":        {short: "pco", values: "kmrnW", long: []string{"--rootdir", "--confcutdir", "--override-ini", "--pdbcls", "--config-file", "--import-mode"}},
	"mypy":          {long: []string{"--config-file", "--python-executable", "--install-types"}},
	"rspec":         {short: "rIO", values: "efPt", long: []string{"--require", "--options", "--format"}},
	"rubocop":       {short: "rc", values: "fo", long: []string{"--require", "--config", "--plugin", "--format"}},
	"phpunit":       {short: "c", long: []string{"--bootstrap", "--configuration", "--include-path"}},
	"ctest":         {short: "SD", values: "CRELIj", long: []string{"--script", "--build-and-test", "--build-makeprogram", "--test-command"}},
	"golangci-lint": {short: "c", values: "DEj", long: []string{"--config"}},
	"mvn":           {short: "fDs", values: "PTl", long: []string{"--file", "--define", "--settings", "--global-settings"}},
	"gradle":        {short: "bcIDpP", values: "x", long: []string{"--build-file", "--settings-file", "--init-script", "--system-prop", "--project-dir", "--include-build"}},
	"tox":           {short: "cx", values: "e", long: []string{"--override", "--conf", "--root", "--workdir"}},
	"zip":           {short: "T", long: []string{"--unzip-command"}, opaque: true},
	"split":         {long: []string{"--filter"}, opaque: true},
	"date":          {short: "sf", values: "dr", long: []string{"--set", "--file"}},
	"base64":        {short: "o", values: "iw", long: []string{"--output"}},
	"tree":          {short: "oR", values: "LPIHT", long: []string{"--output"}},
	"jq":            {short: "f", values: "L", long: []string{"--from-file"}},
	"yq":            {short: "i", long: []string{"--inplace"}},
	"cargo":         {short: "Z", values: "pFj", long: []string{"--config", "--manifest-path"}, opaque: true, quiet: []string{"--manifest-path"}},
	"gofmt":         {words: []string{"-cpuprofile"}},
	"rsync":         {short: "e", long: []string{"--rsh", "--rsync-path", "--daemon", "--config", "--files-from", "--log-file"}, opaque: true},
	"diff":          {long: []string{"--output"}},
	"git": {
		long: []string{
			"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--exec", "--upload-pack", "--receive-pack", "--extcmd",
			"--exec-path",
			"--git-dir", "--work-tree", "--config-env", "--template", "--separate-git-dir", "--hooks-path",
		}, short: "O",
		values: "mSCcnFGu", plain: []string{"--text"},
	},
	"vim": {short: "cSswWu", words: []string{"--cmd"}, opaque: true},
	"ps":  {}, "uniq": {}, "sed": {}, "awk": {}, "make": {}, "test": {}, "printf": {}, "tee": {}, "dd": {}, "xargs": {}, "ssh": {},
}

var jestCode = []string{
	"--config", "--rootdir", "--runner", "--testrunner", "--testenvironment", "--transform", "--globalsetup", "--globalteardown", "--setupfiles",
	"--setupfilesafterenv", "--resolver", "--reporters", "--projects", "--modulenamemapper", "--haste", "--filter", "--testresultsprocessor", "--preset",
}

// same lists programs that are guarded like another one.
var same = map[string]string{
	"gfind": "find", "fdfind": "fd", "gsort": "sort", "gtar": "tar", "bsdtar": "tar", "vi": "vim", "nvim": "vim",
	"view": "vim", "ex": "vim", "ginstall": "install", "podman": "docker", "nerdctl": "docker", "py.test": "pytest", "gradlew": "gradle", "mvnw": "mvn",
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "original-awk": "awk", "gmake": "make", "gxargs": "xargs", "gsed": "sed", "[": "test", "gdate": "date",
	"more": "less", "most": "less", "scp": "ssh", "sftp": "ssh", "mosh": "ssh", "guniq": "uniq",
}

// interpreters run the text that they are given.
var interpreters = set(`python python2 python3 pypy pypy3 node nodejs perl ruby php lua luajit osascript rscript r julia tclsh wish expect
	groovy scala
	mariadb duckdb ghci runghc irb pwsh powershell cmd fish nu elvish xonsh tcsh csh ipython jshell clojure erl elixir iex swift ocaml guile racket sbcl gdb lldb
	jjs rhino qjs ts-node tsx deno bun m4 bc dc ed sqlite3 psql mysql octave emacs`)

// scripted are those of them whose every word may be a text that they run, wherever it stands.
var scripted = set("sqlite3 psql mysql mariadb duckdb gdb lldb emacs octave m4 ed dc bc osascript")

// inShell are builtins that change what later commands mean, or run what they are given.
var inShell = set(`eval exec source . trap alias unalias enable hash bind complete compgen compopt fc history shopt unset read mapfile readarray
	getopts let setopt unsetopt zmodload autoload zle emulate disable functions sched vared zparseopts print declare typeset local readonly
	export builtin caller coproc logout suspend umask ulimit times`)

// guards lists the words of a command that its allow rule must spell.
func guards(c shell.Command, p *place) []hit {
	var list []hit
	add := func(at int, opaque bool, why string) { list = append(list, hit{at, why, opaque}) }
	w := c.Words
	name := base(w[0].Text)
	if s, ok := same[name]; ok {
		name = s
	}
	switch {
	case w[0].Dynamic:
		return nil
	case shell.Shells(name):
		guardShell(c, add)
		return list
	case versioned(name, interpreters):
		guardInterpreter(c, add)
		return list
	case inShell[name]:
		add(never, name == "eval" || name == "exec" || name == "enable" || name == "hash", name+" changes what the shell does next")
		return list
	case shell.Launches(name):
		for i := 1; i < len(w); i++ {
			if isFlag(w[i].Text) && !w[i].Dynamic && !tame(name, w, &i) {
				add(i, false, name+" "+short(w[i].Text)+" changes how it starts a command")
				continue
			}
			if !isFlag(w[i].Text) {
				break
			}
		}
	}
	if shellsBy[name] && !c.Starts {
		add(never, true, name+" without a command starts a shell, which runs what it reads")
	}
	if t, ok := tables[name]; ok {
		t.look(name, w, add)
	}
	if f, ok := special[name]; ok {
		f(c, p, add)
	}
	return list
}

// shellsBy are launchers that start a shell when they are given no command.
var shellsBy = set("script fakeroot chroot unshare nsenter linux32 linux64 setarch su sg newgrp firejail proot capsh systemd-nspawn ssh-agent dtach abduco")

// tameOptions are options of launchers that change nothing about what is started; the value is whether one takes a value.
var tameOptions = map[string]map[string]bool{
	"nice":    {"-n": true, "--adjustment": true},
	"timeout": {"-k": true, "-s": true, "--kill-after": true, "--signal": true, "--foreground": false, "--preserve-status": false, "-v": false, "--verbose": false},
	"stdbuf":  {"-i": true, "-o": true, "-e": true, "--input": true, "--output": true, "--error": true},
	"ionice":  {"-c": true, "-n": true, "-t": false, "--class": true, "--classdata": true},
	"command": {"-v": false, "-V": false},
	"time":    {"-p": false},
	"nohup":   {},
}

// tameValue is what the value of such an option may be: a number, a signal, a size.
var tameValue = regexp.MustCompile(`^[A-Za-z0-9.+-]+$`)

// tame reports whether option i of a launcher changes nothing; i moves to its value when that is the next word.
func tame(name string, w []shell.Word, i *int) bool {
	opt, v, cut := strings.Cut(w[*i].Text, "=")
	if isFlag(opt) && opt[1] != '-' && len(opt) > 2 {
		opt, v, cut = opt[:2], opt[2:], true
	}
	valued, known := tameOptions[strings.TrimPrefix(name, "g")][opt]
	switch {
	case !known || !w[*i].Plain():
		return false
	case !valued:
		return !cut
	case cut:
		return tameValue.MatchString(v)
	case *i+1 < len(w) && w[*i+1].Plain() && tameValue.MatchString(w[*i+1].Text):
		*i++
		return true
	}
	return false
}

// versioned finds python3.12 and the like.
func versioned(name string, m map[string]bool) bool {
	return m[name] || m[strings.TrimRight(name, "0123456789.-")]
}

func (t guarded) look(name string, w []shell.Word, add func(int, bool, string)) {
	for i := 1; i < len(w); i++ {
		s := w[i].Text
		if w[i].Dynamic || !isFlag(s) {
			if name == "tar" && i == 1 && !w[i].Dynamic && strings.ContainsAny(s, "IF") && !strings.ContainsAny(s, "./") {
				add(i, true, "tar "+short(s)+" runs a program")
			}
			continue
		}
		if s == "--" {
			return
		}
		opt, _, _ := strings.Cut(s, "=")
		switch {
		case t.hitsWord(opt), strings.HasPrefix(s, "--") && t.hitsLong(opt), !strings.HasPrefix(s, "--") && t.hitsShort(s):
			add(i, t.opaque && !slices.Contains(t.quiet, opt), name+" "+short(opt)+" does more than the rule says")
		}
	}
}

func (t guarded) hitsWord(opt string) bool {
	one := opt
	if strings.HasPrefix(opt, "--") {
		one = opt[1:]
	}
	for _, g := range t.words {
		if opt == g || one == g {
			return true
		}
	}
	return false
}

func (t guarded) hitsLong(opt string) bool {
	for _, p := range t.plain {
		if opt == p {
			return false
		}
	}
	for _, g := range t.long {
		if len(opt) > 2 && strings.HasPrefix(g, opt) {
			return true
		}
	}
	return false
}

func (t guarded) hitsShort(s string) bool {
	for i := 1; i < len(s); i++ {
		if strings.IndexByte(t.short, s[i]) >= 0 {
			return true
		}
		if strings.IndexByte(t.values, s[i]) >= 0 {
			return false
		}
	}
	return false
}

func guardShell(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	if c.Piped || c.Stdin != nil && (c.Stdin.Dynamic || c.Piped) {
		add(never, true, base(w[0].Text)+" runs what another command gives it")
	}
	if len(w) == 1 {
		if c.Stdin == nil {
			add(exactOnly, true, base(w[0].Text)+" without a script runs what it reads")
		}
		return
	}
	if o := w[1].Text; len(w) == 3 && (o == "-c" || o == "-lc") && w[2].Plain() {
		return // the script is judged by itself
	}
	if len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "--help") {
		return
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "csi") || t == "-"
		add(i, text || w[i].Dynamic, "what "+base(w[0].Text)+" "+short(t)+" runs is not in the command")
	}
}

func guardInterpreter(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	name := base(w[0].Text)
	if scripted[name] {
		for i := 1; i < len(w); i++ {
			add(i, true, "what "+name+" "+short(w[i].Text)+" runs cannot be judged")
		}
	}
	if c.Piped || c.Stdin != nil {
		if len(w) == 1 || len(w) == 2 && w[1].Text == "-" || isFlag(w[1].Text) {
			add(never, true, name+" runs what it is given to read")
		}
	}
	if len(w) == 1 {
		add(exactOnly, true, name+" without a script runs what it reads")
		return
	}
	if len(w) == 2 {
		switch w[1].Text {
		case "--version", "-V", "-v", "--help", "-h", "version":
			return
		}
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "ceErpn") || t == "-" || strings.HasPrefix(t, "--e") ||
			strings.HasPrefix(t, "--p") || t == "eval"
		add(i, text || w[i].Dynamic, "what "+name+" "+short(t)+" runs is not in the command")
		if !isFlag(w[i].Text) {
			return
		}
		switch w[i].Text {
		case "-c", "-e", "-m", "-p", "-r", "--eval", "--print", "-E", "-pe", "-ne":
			if i+1 < len(w) {
				add(i+1, w[i].Text != "-m", "what "+name+" "+w[i].Text+" runs cannot be judged")
			}
			if w[i].Text == "-m" || w[i].Text == "-c" {
				return
			}
		}
	}
}

func isNumber(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }
