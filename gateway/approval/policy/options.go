package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/approval/shell"
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
	"kubectl": {short: "s", values: "nfolcLkp", long: []string{"--kubeconfig", "--server", "--cluster"}, opaque: true},
	"unzip":   {short: ":", values: "dxP"},
	"helm":    {long: []string{"--kubeconfig", "--post-renderer"}, opaque: true},
	"docker":  {short: "H", values: "velptuwfnhm", long: []string{"--host", "--config", "--context"}, opaque: true, quiet: []string{"-H", "--host", "--context"}},
	"hg": {
		short: "R", values: "rbBdlmptuXI", long: []string{"--config", "--repository", "--cwd", "--debugger"}, opaque: true,
	},
	"svn": {long: []string{"--config-dir", "--config-option", "--diff-cmd", "--diff3-cmd", "--editor-cmd"}, opaque: true},
	// What these take as a setting is code that they run.
	"eslint":   {short: "cf", values: "o", long: []string{"--config", "--rulesdir", "--parser", "--plugin", "--resolve-plugins-relative-to", "--format", "--flag", "--init", "--inspect-config"}},
	"prettier": {long: []string{"--config", "--plugin", "--plugin-search-dir", "--parser"}, plain: []string{"--config-precedence"}},
	"jest":     {short: "c", values: "tnwo", long: jestCode},
	"vitest": {short: "c", values: "tw", long: []string{
		"--config", "--root", "--globalsetup", "--environment", "--reporter", "--pool", "--browser.provider", "--coverage.provider", "--coverage.customprovidermodule", "--browser",
		"--dir", "--typecheck.checker", "--sequence.sequencer", "--diff", "--snapshotenvironment", "--runner", "--configloader", "--workspace", "--project", "--api",
	}, plain: []string{"--coverage"}},
	"pytest":        {short: "pco", values: "kmrnW", long: []string{"--rootdir", "--confcutdir", "--override-ini", "--pdbcls", "--config-file", "--import-mode", "--pastebin", "--basetemp"}},
	"mypy":          {long: []string{"--config-file", "--python-executable", "--install-types"}},
	"rspec":         {short: "rIO", values: "efPt", long: []string{"--require", "--options", "--format"}},
	"rubocop":       {short: "rc", values: "fo", long: []string{"--require", "--config", "--plugin", "--format"}},
	"phpunit":       {short: "cd", long: []string{"--bootstrap", "--configuration", "--include-path", "--extension", "--printer", "--loader"}},
	"flake8":        {long: []string{"--config", "--append-config"}},
	"ctest":         {short: "SDTM", values: "CRELIj", long: []string{"--script", "--build-and-test", "--build-makeprogram", "--test-command"}},
	"golangci-lint": {short: "c", values: "DEj", long: []string{"--config"}},
	"mvn":           {short: "fDstP", values: "Tl", long: []string{"--file", "--define", "--settings", "--global-settings", "--toolchains", "--global-toolchains", "--activate-profiles"}},
	"gradle":        {short: "bcIDpPg", values: "x", long: []string{"--gradle-user-home", "--scan", "--build-file", "--settings-file", "--init-script", "--system-prop", "--project-dir", "--include-build"}},
	"tox":           {short: "cx", values: "e", long: []string{"--override", "--conf", "--root", "--workdir"}},
	"zip":           {short: "Tm", values: "btnxi", long: []string{"--unzip-command", "--move"}, opaque: true, quiet: []string{"-m", "--move"}},
	"split":         {long: []string{"--filter"}, opaque: true},
	"date":          {short: "sf", values: "dr", long: []string{"--set", "--file"}},
	"base64":        {short: "o", values: "iw", long: []string{"--output"}},
	"tree":          {short: "oR", values: "LPIHT", long: []string{"--output"}},
	"jq":            {short: "f", values: "L", long: []string{"--from-file"}},
	"yq":            {short: "i", long: []string{"--inplace"}},
	"cargo":         {short: "Z", values: "pFj", long: []string{"--config", "--manifest-path"}, opaque: true, quiet: []string{"--manifest-path"}},
	"gofmt":         {words: []string{"-cpuprofile"}},
	"rsync":         {short: "e", long: []string{"--rsh", "--rsync-path", "--daemon", "--config", "--files-from", "--log-file", "--remove-source-files", "--remove-sent-files"}, opaque: true, quiet: []string{"--remove-source-files", "--remove-sent-files", "--log-file", "--files-from"}},
	"diff":          {long: []string{"--output"}},
	"git": {
		long: []string{
			"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--exec", "--upload-pack", "--receive-pack", "--extcmd",
			"--exec-path",
			"--git-dir", "--work-tree", "--config-env", "--template", "--separate-git-dir", "--hooks-path",
		}, short: "O",
		values: "mSCcnFGu", plain: []string{"--text"},
	},
	"nc":  {short: "ec", values: "piIPqswXxTVWm", long: []string{"--exec", "--sh-exec", "--lua-exec"}, opaque: true},
	"vim": {short: "cSswWuUiVl", words: []string{"--cmd", "--remote-send", "--remote-expr", "--startuptime", "--listen", "--server", "--remote-ui", "--luamod-dev"}, opaque: true},
	"ps":  {}, "uniq": {}, "sed": {}, "awk": {}, "make": {}, "test": {}, "printf": {}, "tee": {}, "dd": {}, "xargs": {}, "ssh": {},
}

var jestCode = []string{
	"--config", "--rootdir", "--runner", "--testrunner", "--testenvironment", "--transform", "--globalsetup", "--globalteardown", "--setupfiles",
	"--setupfilesafterenv", "--resolver", "--reporters", "--projects", "--modulenamemapper", "--haste", "--filter", "--testresultsprocessor", "--preset",
	"--watchplugins", "--prettierpath", "--snapshotserializers", "--env", "--testsequencer", "--roots", "--globals", "--coveragereporters", "--modulepaths",
	"--dependencyextractor", "--snapshotresolver", "--unmockedmodulepathpatterns", "--moduledirectories", "--extensionstotreatasesm",
}

// same lists programs that are guarded like another one.
var same = map[string]string{
	"gfind": "find", "fdfind": "fd", "gsort": "sort", "gtar": "tar", "bsdtar": "tar", "vi": "vim", "nvim": "vim",
	"view": "vim", "ex": "vim", "ginstall": "install", "podman": "docker", "nerdctl": "docker", "py.test": "pytest", "gradlew": "gradle", "mvnw": "mvn",
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "original-awk": "awk", "gmake": "make", "gxargs": "xargs", "gsed": "sed", "[": "test", "gdate": "date",
	"netcat": "nc", "ncat": "nc", "more": "less", "most": "less", "scp": "ssh", "sftp": "ssh", "mosh": "ssh", "guniq": "uniq",
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
	other := strings.ToLower(opt)
	if len(opt) > 2 {
		other = "--" + strings.ReplaceAll(other[2:], "-", "") // where --rootDir is --root-dir
	}
	for _, g := range t.long {
		if len(opt) > 2 && (strings.HasPrefix(g, opt) || strings.HasPrefix(g, other)) {
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

// given reports whether some word is one of the options that are looked out for.
func (t guarded) given(words []shell.Word) bool {
	for i, w := range words {
		switch s := w.Text; {
		case w.Dynamic:
		case strings.HasPrefix(s, "--"):
			if opt, _, _ := strings.Cut(s, "="); t.hitsLong(opt) {
				return true
			}
		case isFlag(s) && t.hitsShort(s), i == 0 && !isFlag(s) && !strings.ContainsAny(s, "./") && t.hitsShort("-"+s):
			return true
		}
	}
	return false
}
