package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// into lists the options that name the folder in which a program works or to which it writes.
type into struct {
	letters string
	longs   []string
}

// folderOptions are those of programs whose other words do not name the files that they write
// there.
var folderOptions = map[string]into{
	"make":     {letters: "C", longs: []string{"--directory"}},
	"ninja":    {letters: "C"},
	"just":     {letters: "d", longs: []string{"--working-directory"}},
	"task":     {letters: "d", longs: []string{"--dir"}},
	"mage":     {letters: "dw"},
	"scons":    {letters: "C", longs: []string{"--directory"}},
	"cmake":    {letters: "B", longs: []string{"--build", "--install", "--prefix"}},
	"meson":    {letters: "C", longs: []string{"--destdir"}},
	"gradle":   {letters: "p", longs: []string{"--project-dir"}},
	"mvn":      {letters: "f", longs: []string{"--file"}},
	"npm":      {letters: "C", longs: []string{"--prefix", "--cache", "--pack-destination"}},
	"npx":      {longs: []string{"--prefix"}},
	"pnpm":     {letters: "C", longs: []string{"--dir", "--prefix", "--modules-dir", "--virtual-store-dir", "--store-dir"}},
	"yarn":     {longs: []string{"--cwd", "--modules-folder", "--prefix", "--cache-folder"}},
	"bun":      {longs: []string{"--cwd"}},
	"pip":      {letters: "tdw", longs: []string{"--target", "--prefix", "--root", "--src", "--dest", "--wheel-dir", "--cache-dir", "--build"}},
	"uv":       {letters: "t", longs: []string{"--target", "--prefix", "--directory", "--project", "--cache-dir", "--install-dir", "--out-dir"}},
	"poetry":   {letters: "CP", longs: []string{"--directory", "--project"}},
	"pdm":      {letters: "p", longs: []string{"--project"}},
	"cargo":    {letters: "C", longs: []string{"--root", "--target-dir", "--out-dir", "--artifact-dir"}},
	"go":       {letters: "Co"},
	"gem":      {letters: "in", longs: []string{"--install-dir", "--bindir", "--build-root"}},
	"bundle":   {longs: []string{"--path", "--standalone", "--binstubs"}},
	"composer": {letters: "d", longs: []string{"--working-dir"}},
	"dotnet":   {letters: "o", longs: []string{"--output", "--tool-path", "--artifacts-path"}},
	"nuget":    {longs: []string{"-OutputDirectory"}},
	"gh":       {letters: "D", longs: []string{"--dir"}},
	"aria2c":   {letters: "d", longs: []string{"--dir"}},
	"yt-dlp":   {letters: "P", longs: []string{"--paths"}},
	"protoc":   {longs: []string{"--go_out", "--python_out", "--java_out", "--cpp_out"}},
	"tsc":      {longs: []string{"--outDir", "--declarationDir"}},
	"jest":     {longs: []string{"--coverageDirectory", "--cacheDirectory"}},
	"javac":    {letters: "dsh"},
	"apt-get":  {},
	"systemd-run": {
		longs: []string{"--working-directory"},
	},
}

// likewise are programs with the options of another one.
var likewise = map[string]string{
	"gmake": "make", "pip2": "pip", "pip3": "pip", "gradlew": "gradle", "mvnw": "mvn", "bunx": "bun", "pnpx": "pnpm", "samu": "ninja", "cmake3": "cmake",
	"ansible-galaxy": "gh", "youtube-dl": "yt-dlp", "uvx": "uv",
}

// rewriters change all files of a type in the folders in their arguments, with one of the options
// ("" means always).
var rewriters = map[string]struct {
	when []string
	only string
}{
	"gofmt": {[]string{"-w"}, "*.go"}, "gofumpt": {[]string{"-w"}, "*.go"}, "goimports": {[]string{"-w"}, "*.go"}, "gci": {[]string{"write"}, "*.go"},
	"black": {nil, "*.py*"}, "isort": {nil, "*.py*"}, "yapf": {[]string{"-i", "--in-place", "-ri", "-ir"}, "*.py*"},
	"autopep8": {[]string{"-i", "--in-place", "-ir", "-ri", "-r"}, "*.py*"}, "ruff": {[]string{"format", "--fix", "--fix-only", "--add-noqa"}, "*.[pi]*"},
	"prettier": {[]string{"-w", "--write"}, ""}, "eslint": {[]string{"--fix"}, ""}, "biome": {[]string{"--write", "--apply", "--fix"}, ""},
	"rubocop": {[]string{"-a", "-A", "--auto-correct", "--autocorrect", "--autocorrect-all", "-x"}, ""}, "shfmt": {[]string{"-w", "--write"}, ""},
	"stylua": {nil, "*.lua"}, "swiftformat": {nil, "*.swift"}, "ktlint": {[]string{"-F", "--format"}, "*.kt*"}, "standard": {[]string{"--fix"}, ""},
	"clang-format": {[]string{"-i"}, ""}, "golangci-lint": {[]string{"--fix", "fmt"}, "*.go"}, "dos2unix": {nil, ""}, "unix2dos": {nil, ""},
}

// downloads are programs that choose the names of the files that they download.
var downloads = set("wget wget2 aria2c axel yt-dlp youtube-dl lftp ftp ncftpget sftp httrack gallery-dl you-get megadl rclone")

var numberedOutput = regexp.MustCompile(`#[0-9]`)

// written returns the folders to which a program writes according to its options, and the files
// that it certainly writes.
func written(name string, c shell.Command) []area {
	words := c.Words[1:]
	if as, ok := likewise[name]; ok {
		name = as
	}
	list := told(name, words)
	rest := operands(words, "")
	list = append(list, rewritten(name, words, rest)...)
	sub := ""
	if len(rest) > 0 {
		sub = rest[0].Text
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		list = append(list, installed(vocabularies[name].full(sub))...)
	case "go":
		list = append(list, goWrites(sub, rest)...)
	case "cargo":
		list = append(list, cargoWrites(sub, rest)...)
	case "composer":
		list = append(list, area{word: shell.Word{Text: "vendor"}, tools: writing, why: "may write"})
	case "terraform", "tofu":
		list = append(list, terraformWrites(sub, words)...)
	case "gh", "hub", "glab":
		list = append(list, forge(sub, rest, words)...)
	case "hg", "svn", "jj", "bzr", "fossil", "cvs", "darcs", "pijul":
		list = append(list, otherTree(name, sub, rest)...)
	case "rename", "prename", "perl-rename", "file-rename", "mmv", "vidir", "zmv", "detox", "convmv":
		list = append(list, area{word: here, tools: anyAccess, why: "may give new names to"})
	case "split", "csplit", "gsplit":
		list = append(list, pieced(name, rest, words)...)
	case "python", "python2", "python3", "pypy", "pypy3":
		list = append(list, module(words)...)
	}
	if downloads[name] {
		list = append(list, fetched(name, words)...)
	} else if name == "curl" {
		list = append(list, curled(words)...)
	}
	return list
}

// told returns the folders in a program's options.
func told(name string, words []shell.Word) (list []area) {
	o := folderOptions[name]
	for i := range o.letters {
		for _, v := range values(words, o.letters[i], "") {
			list = append(list, area{word: v, tools: writing, why: "may write", sure: o.letters[i] == 'o' && !strings.HasSuffix(v.Text, "/")})
		}
	}
	for _, long := range o.longs {
		for _, v := range values(words, 0, long) {
			list = append(list, area{word: v, tools: writing, why: "may write"})
		}
	}
	return list
}

// rewritten returns the folders whose files a formatter changes.
func rewritten(name string, words, rest []shell.Word) (list []area) {
	r, ok := rewriters[name]
	if !ok || r.when != nil && !givenWord(words, r.when) || givenWord(words, []string{"--check", "--diff", "-d", "--dry-run"}) {
		return nil
	}
	if len(rest) == 0 {
		rest = []shell.Word{here}
	}
	for _, w := range rest {
		if maybeFolder(w.Text) || w.Dynamic {
			list = append(list, area{word: w, tools: writing, why: "may change", only: r.only})
		}
	}
	return list
}

// givenWord reports whether one of the options is among the words.
func givenWord(words []shell.Word, list []string) bool {
	for _, w := range words {
		opt, _, _ := strings.Cut(w.Text, "=")
		for _, o := range list {
			if w.Text == o || opt == o {
				return true
			}
		}
	}
	return false
}

// fetched returns the folders for downloads whose names the server may choose.
func fetched(name string, words []shell.Word) []area {
	if name == "wget" || name == "wget2" {
		if hasLong(words, "--spider") || len(words) == 1 && isFlag(words[0].Text) {
			return nil
		}
		if _, ok := valueOf(words, 'O', "--output-document"); ok && !given(glob{parts: []string{"-r"}}, words) {
			return nil // one file, which is judged by its name
		}
	}
	if len(operands(words, "")) == 0 && !hasOption(words, 'i', "--input-file") {
		return nil
	}
	to := shell.Word{Text: "."}
	if v, ok := valueOf(words, 'P', "--directory-prefix"); ok {
		to = v
	}
	if v, ok := valueOf(words, 'd', "--dir"); ok && name == "aria2c" {
		to = v
	}
	return []area{{word: to, tools: writing, why: "may write"}}
}

// curled returns the folders into which curl writes files whose names are not in its words.
func curled(words []shell.Word) (list []area) {
	to := shell.Word{Text: "."}
	if v, ok := valueOf(words, 0, "--output-dir"); ok {
		to = v
	}
	dir := func(w shell.Word) { list = append(list, area{word: w, tools: writing, why: "may write"}) }
	file := func(name string) { // in the folder for downloads
		f := to
		f.Text = path.Join(to.Text, name)
		list = append(list, area{word: f, tools: writing, why: "may write", file: true})
	}
	takes := func(t string, letters string) bool {
		return isFlag(t) && t[1] != '-' && strings.ContainsAny(cluster(t[1:], "AbCdEeFHmPQrtuwXxYyzoKTcD"), letters)
	}
	for i, w := range words {
		t := w.Text
		opt, v, cut := strings.Cut(t, "=")
		if !cut && i+1 < len(words) {
			v = words[i+1].Text
		}
		switch {
		case takes(t, "J"), begins("--remote-header-name", opt, 10):
			dir(to)
		case takes(t, "O"), begins("--remote-name", opt, 10), opt == "--remote-name-all":
			for _, u := range words {
				if strings.ContainsAny(u.Text, "{[") || u.Dynamic {
					dir(to) // it chooses the names itself
				} else if name := path.Base(strings.SplitN(u.Text, "?", 2)[0]); strings.Contains(u.Text, "/") && !isFlag(u.Text) && name != "/" {
					file(name)
				}
			}
		case (opt == "--output" || strings.HasPrefix(t, "-") && strings.Contains(t, "o")) && (numberedOutput.MatchString(v) || numberedOutput.MatchString(t)):
			dir(shell.Word{Text: strings.SplitN(path.Join(to.Text, path.Dir(strings.SplitN(v, "#", 2)[0])), "\x00", 2)[0]})
		case opt == "--config", isFlag(t) && t[1] != '-' && strings.ContainsAny(t, "K"):
			dir(everywhere)
		}
	}
	return list
}

// pieced returns the files that split creates: their names start with its argument.
func pieced(name string, rest, words []shell.Word) (list []area) {
	prefixes := []shell.Word{{Text: "x"}}
	if name == "csplit" {
		prefixes[0].Text = "xx"
		if v, ok := valueOf(words, 'f', "--prefix"); ok {
			prefixes[0] = v
		}
	} else if len(rest) > 1 {
		prefixes = rest[1:] // it does not matter which of them is an option's value
	}
	for _, w := range prefixes {
		w.Text, w.Glob = w.Text+"*", true
		list = append(list, area{word: w, tools: writing, why: "may write", file: true})
	}
	return list
}

// module returns the folders that python's own modules write or serve.
func module(words []shell.Word) (list []area) {
	for i, w := range words {
		name := ""
		if w.Text == "-m" && i+1 < len(words) {
			name, words = words[i+1].Text, words[i+2:]
		} else if v, ok := strings.CutPrefix(w.Text, "-m"); ok && v != "" {
			name, words = v, words[i+1:]
		} else {
			continue
		}
		switch name {
		case "zipfile", "tarfile":
			for _, o := range operands(words, "") {
				list = append(list, area{word: o, tools: anyAccess, why: "may write"})
			}
		case "venv", "virtualenv", "ensurepip", "compileall", "zipapp":
			for _, o := range operands(words, "") {
				list = append(list, area{word: o, tools: writing, why: "may write"})
			}
		case "http.server", "SimpleHTTPServer":
			dir := shell.Word{Text: "."}
			if v, ok := valueOf(words, 'd', "--directory"); ok {
				dir = v
			}
			list = append(list, area{word: dir, tools: reading, why: "would show"})
		case "pip":
			list = append(list, written("pip", shell.Command{Words: append([]shell.Word{{Text: "pip"}}, words...)})...)
		}
		return list
	}
	return nil
}

// forge returns the folders to which gh and similar programs write downloads.
func forge(sub string, rest, words []shell.Word) []area {
	do := ""
	if len(rest) > 1 {
		do = rest[1].Text
	}
	here := area{word: shell.Word{Text: "."}, tools: writing, why: "may write", tree: true}
	switch {
	case do == "checkout", sub == "checkout", sub == "co", sub == "repo" && do == "sync", sub == "mr" && do == "checkout":
		return []area{here}
	case sub == "repo" && (do == "clone" || do == "fork" || do == "create"), sub == "gist" && do == "clone", sub == "clone":
		return cloned(rest[min(len(rest), 2):], shell.Word{Text: "."})
	case do == "download" && !hasOption(words, 'D', "--dir"):
		here.tree = false
		return []area{here}
	}
	return nil
}

// otherTree returns the folders that version control programs other than git write.
func otherTree(name, sub string, rest []shell.Word) []area {
	switch vocabularies[name].full(sub) {
	case "update", "up", "checkout", "co", "switch", "sw", "merge", "revert", "patch", "import", "pull", "graft", "rebase", "backout", "purge", "unshelve",
		"shelve", "histedit", "strip", "transplant", "clone", "export", "new", "edit", "restore", "abandon", "squash", "undo", "next", "prev", "get",
		"relocate", "cleanup", "open", "unrecord", "rollback", "obliterate", "apply", "absorb", "bisect", "workspace":
	default:
		return nil
	}
	list := []area{{word: shell.Word{Text: "."}, tools: writing, why: "may write", tree: true}}
	for _, w := range rest[1:] {
		if !strings.Contains(w.Text, "://") {
			list = append(list, area{word: w, tools: writing, why: "may write"})
		}
	}
	return list
}
