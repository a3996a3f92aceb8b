// Package install serves the files that turn another machine into a node: an install script for
// each system, and the node programs that come with this gateway. The script contains the SHA-256
// of each program and the pin of the gateway's certificate, so that a program which was changed on
// the way is not installed.
package install

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"fairlead/gateway/peer/identity"
)

//go:embed install.sh
var shell string

//go:embed install.ps1
var power string

var (
	shellScript = template.Must(template.New("install.sh").Parse(shell))
	powerScript = template.Must(template.New("install.ps1").Parse(power))
)

// program matches the file name of a node program: fairlead-node-linux-amd64,
// fairlead-node-windows-arm64.exe.
var program = regexp.MustCompile(`^fairlead-node-([a-z0-9]+-[a-z0-9]+)(\.exe)?$`)

// Server serves /install.sh, /install.ps1 and /install/PROGRAM. It is safe for concurrent use.
type Server struct {
	dirs []string
	pin  func() identity.Pin

	mu   sync.Mutex // guards sums
	sums map[string]sum
}

type sum struct {
	at   time.Time
	size int64
	hex  string
}

// New serves the programs in dirs. A plain fairlead-node in the first folder, which is that of this
// program, is the one for this platform. pin returns the pin of the network listener's certificate.
func New(pin func() identity.Pin, dirs ...string) *Server {
	return &Server{dirs: dirs, pin: pin, sums: make(map[string]sum)}
}

// Beside returns the folders of a program's node programs: its own, and its subfolder nodes.
func Beside(exe string) []string {
	dir := filepath.Dir(exe)
	return []string{dir, filepath.Join(dir, "nodes")}
}

// file is a node program as the scripts name it.
type file struct {
	Platform, Name, Sum string
	path                string
}

// HasPrograms reports whether there are node programs for Windows and for other systems.
func (s *Server) HasPrograms() (windows, others bool) {
	found, _ := s.find() // on an error there is nothing to download
	for name := range found {
		if strings.HasPrefix(program.FindStringSubmatch(name)[1], "windows-") {
			windows = true
		} else {
			others = true
		}
	}
	return windows, others
}

// find returns the path of each existing program by its download name.
func (s *Server) find() (map[string]string, error) {
	found := make(map[string]string)
	ext := ""
	if runtime.GOOS == "windows" {
		ext = ".exe"
	}
	for i, dir := range s.dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("look for node programs: %w", err)
		}
		for _, e := range entries {
			name := e.Name()
			if i == 0 && name == "fairlead-node"+ext {
				name = "fairlead-node-" + runtime.GOOS + "-" + runtime.GOARCH + ext
			}
			if program.MatchString(name) && !e.IsDir() {
				found[name] = filepath.Join(dir, e.Name())
			}
		}
	}
	return found, nil
}

// files returns the programs, sorted by platform. It hashes those that are new or have changed.
func (s *Server) files() ([]file, error) {
	found, err := s.find()
	if err != nil {
		return nil, err
	}
	var list []file
	for name, path := range found {
		hash, err := s.hash(path)
		if err != nil {
			continue // it was removed, or is a folder
		}
		list = append(list, file{Platform: program.FindStringSubmatch(name)[1], Name: name, Sum: hash, path: path})
	}
	slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (s *Server) hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", errors.New("not a file")
	}
	s.mu.Lock()
	known := s.sums[path]
	s.mu.Unlock()
	if known.hex != "" && known.at.Equal(info.ModTime()) && known.size == info.Size() {
		return known.hex, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	known = sum{info.ModTime(), info.Size(), hex.EncodeToString(h.Sum(nil))}
	s.mu.Lock()
	s.sums[path] = known
	s.mu.Unlock()
	return known.hex, nil
}

func (s *Server) missing() string {
	return "put fairlead-node-OS-ARCH beside the gateway or into " + filepath.ToSlash(s.dirs[len(s.dirs)-1]) + " there"
}

// ServeHTTP answers GET and HEAD below /install.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	list, err := s.files()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch name, isProgram := strings.CutPrefix(r.URL.Path, "/install/"); {
	case r.URL.Path == "/install.sh":
		s.script(w, r, shellScript, list)
	case r.URL.Path == "/install.ps1":
		s.script(w, r, powerScript, list)
	case isProgram:
		i := slices.IndexFunc(list, func(f file) bool { return f.Name == name })
		if i < 0 {
			http.Error(w, fmt.Sprintf("This gateway ships no %.80q: %s.", name, s.missing()), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-SHA256", list[i].Sum)
		http.ServeFile(w, r, list[i].path)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) script(w http.ResponseWriter, r *http.Request, t *template.Template, list []file) {
	if identity.CheckAddress(r.Host) != nil || strings.ContainsAny(r.Host, "'\"`$\\\n;&|<>(){}") {
		http.Error(w, "request this by host:port", http.StatusBadRequest)
		return
	}
	if len(list) == 0 {
		http.Error(w, "This gateway ships no node programs: "+s.missing()+".", http.StatusNotFound)
		return
	}
	in := struct {
		Base, Missing string
		Pin           identity.Pin
		Files         []file
	}{Base: "http://" + r.Host, Missing: strings.Map(plain, s.missing()), Files: list}
	if r.TLS != nil {
		in.Base, in.Pin = "https://"+r.Host, s.pin()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t.Execute(w, in) // on an error the client has disconnected
}

// plain removes characters from a path that a script would not treat as text.
func plain(r rune) rune {
	if strings.ContainsRune("'\"`$\\\n", r) {
		return -1
	}
	return r
}
