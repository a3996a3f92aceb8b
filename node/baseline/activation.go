package baseline

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// placeholder matches what venv, virtualenv and uv replace in their templates.
var placeholder = regexp.MustCompile(`__[A-Z][A-Z_]*__|\{\{ [A-Z_]+ \}\}`)

// quotedValue and bareValue match what they write there, in quotes of the template and elsewhere.
// None can end the quotes or start a program.
var (
	quotedValue = regexp.MustCompile(`^([\w/.,:()@+ =-]*` + relocatable + `)$`)
	bareValue   = regexp.MustCompile(`^([\w/.,:@+=-]|"[\w/.,:()@+ =-]*"|'[\w/.,:()@+ =-]*'|"\$_virtualenv_\w+:q"` + // shells
		`|r#'[\w/.,:()@+ =-]*'#|\(path self \| path dirname \| path dirname\)` + // Nushell
		`|b"[\w/.,:()@+ =-]*"\.decode\("utf-8"\)|__import__\("os"\)\.fsdecode\(b"[\w/.,:()@+ =-]*"\))*$`) // Python
)

// maxQuoted is the size in bytes of the longest value in quotes. As a limit in the expression, it
// would compile to a megabyte.
const maxQuoted = 1000

// relocatable matches what "uv venv --relocatable" writes instead of a path.
const relocatable = `|'"\$\(dirname -- "\$\(dirname -- "\$\(realpath -- "\$SCRIPT_PATH"\)"\)"\)"'|'\(dirname -- \(dirname -- \(realpath -- \(status -f\)\)\)\)'|%~dp0\.\.`

// maxTemplate is the size in bytes of the largest file with templates: those of uv are in the program.
const maxTemplate = 200 << 20

// isActivation reports whether a script of an environment is one that venv, virtualenv or uv writes,
// by the templates that are installed where commands cannot change them.
func (s judge) isActivation(environment, name, text string) bool {
	base := s.baseOf(environment)
	if base == "" {
		return false
	}
	files := globIn(base, "..", "lib", "python3*", "venv", "scripts", "*", name)
	files = append(files, globIn(base, "Lib", "venv", "scripts", "*", name)...)
	template := name
	if name == "activate" {
		template = "activate.sh"
	}
	for _, dir := range append([]string{base}, installedIn("virtualenv")...) {
		for _, packages := range []string{"python3*/site-packages", "python3/dist-packages"} {
			files = append(files, globIn(dir, "..", "lib", packages, "virtualenv", "activation", "*", template)...)
		}
	}
	config, _ := os.ReadFile(filepath.Join(environment, "pyvenv.cfg"))
	if bytes.Contains(config, []byte("\nuv = ")) {
		for _, dir := range installedIn("uv") {
			files = append(files, filepath.Join(dir, "uv"))
		}
	}
	return slices.ContainsFunc(files, func(file string) bool { return s.isSystem(file) && isFilledIn(s.template(file), text) })
}

func globIn(dir string, pattern ...string) []string {
	found, _ := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	return found
}

// installedIn returns the folders in which a program may be, without links.
func installedIn(program string) (folders []string) {
	path, _ := exec.LookPath(program)
	home, _ := os.UserHomeDir()
	for _, p := range []string{path, filepath.Join(home, ".local", "bin", program), filepath.Join(home, ".cargo", "bin", program)} {
		if real, err := filepath.EvalSymlinks(p); err == nil && p != "" {
			folders = append(folders, filepath.Dir(real))
		}
	}
	return folders
}

func (s judge) template(file string) []byte {
	if data, ok := s.templates[file]; ok {
		return data
	}
	var data []byte
	if info, err := os.Stat(file); err == nil && info.Size() <= maxTemplate {
		data, _ = os.ReadFile(file)
	}
	s.templates[file] = data
	return data
}

// isFilledIn reports whether a text is a template in the source, with values for its placeholders.
// The source may contain more. The first line has no placeholder.
func isFilledIn(source []byte, text string) bool {
	text = strings.TrimPrefix(text, "\ufeff")
	first, _, _ := strings.Cut(text, "\n")
	for first != "" {
		at := bytes.Index(source, []byte(first))
		if at < 0 {
			return false
		}
		source = source[at:]
		if fills(string(source[:min(len(source), 2*len(text)+4096)]), text) {
			return true
		}
		source = source[1:]
	}
	return false
}

func fills(template, text string) bool {
	line := ""
	for {
		literal, rest := template, ""
		if at := placeholder.FindStringIndex(template); at != nil {
			literal, rest = template[:at[0]], template[at[1]:]
		}
		if strings.HasPrefix(literal, text) {
			return true
		}
		var ok bool
		if text, ok = strings.CutPrefix(text, literal); !ok {
			return false
		}
		line = line[strings.LastIndexByte(line, '\n')+1:] + literal
		value, longest := bareValue, len(text)
		if before := line[strings.LastIndexByte(line, '\n')+1:]; strings.Count(before, `"`)%2+strings.Count(before, "'")%2 > 0 {
			value, longest = quotedValue, maxQuoted
		}
		next := rest
		if at := placeholder.FindStringIndex(rest); at != nil {
			next = rest[:at[0]]
		}
		end := strings.Index(text, firstLine(next))
		if end < 0 || end > longest || !value.MatchString(text[:end]) {
			return false
		}
		template, text = rest, text[end:]
	}
}

// firstLine returns a text up to its first end of a line, with that.
func firstLine(text string) string {
	line, _, found := strings.Cut(text, "\n")
	if found {
		line += "\n"
	}
	return line
}
